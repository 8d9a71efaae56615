package script

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// operand draws a literal or an expression of at most the given depth.
func operand(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]string{
			"0", "1", "-1", "2", "3.5", "0.1", "1e15", "1e300", "-7", "255", "2^53", "'10'", "'0x10'", "'abc'", "''", "' 5 '", "'1e2'",
			"nil", "true", "false", "{}", "{1,2,3}", "a", "b", "c", "c.x", "c.y", "#c", "1/0", "string", "f", "f()",
		}).Draw(t, "value")
	}
	x, y := operand(t, depth-1), operand(t, depth-1)
	form := rapid.SampledFrom([]string{
		"(%s + %s)", "(%s - %s)", "(%s * %s)", "(%s / %s)", "(%s %% %s)", "(%s ^ %s)", "(%s .. %s)", "(%s == %s)", "(%s ~= %s)",
		"(%s < %s)", "(%s <= %s)", "(%s > %s)", "(%s >= %s)", "(%s and %s)", "(%s or %s)", "f(%s, %s)", "select(2, %s, %s)",
		"math.max(%s, %s)", "math.fmod(%s, %s)", "string.rep(%s, 3, %s)", "tostring(%s):sub(1, #tostring(%s))", "({%s, %s})[2]",
		"tonumber(%s, %s)", "string.format('%%s %%g', %s, %s)", "bit.bxor(%s, %s)", "cjson.encode({%s, %s})", "({pcall(f, %s, %s)})[2]",
		"struct.pack('bI', %s, %s)", "cmsgpack.pack(%s, %s)", "string.find(%s, %s)", "table.concat({%s, %s}, ',')", "rawequal(%s, %s)",
		"(not %s or -%s)", "#(%s .. %s)", "redis.sha1hex(%s .. %s)", "string.format('%%5.2f|%%x', %s, %s)",
	}).Draw(t, "form")
	return fmt.Sprintf(form, x, y)
}

// program draws a script of a few statements.
func program(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("local a, b, c = 5, 'x', {x = 1, y = '2', 10, 20} local function f(p, q) return p, q end ")
	for range rapid.IntRange(0, 4).Draw(t, "statements") {
		e := operand(t, 2)
		form := rapid.SampledFrom([]string{
			"a = %s ", "b = %s ", "c.x = %s ", "c[%s] = 1 ", "c[#c + 1] = %s ", "if %s then a = a + 1 else b = b .. 'z' end ",
			"for i = 1, 3 do c[i] = %s end ", "local d = %s ", "do local a = %s f(a) end ", "while a == %s do break end ",
			"repeat local r = %s until r ~= r or true ", "a, b = b, %s ", "for k, v in pairs(c) do if v == %s then b = k end end ",
			"local function g(p) return %s end g(a) ", "c.x, c.y = c.y, %s ",
		}).Draw(t, "statement")
		fmt.Fprintf(&b, form, e)
	}
	fmt.Fprintf(&b, "return {%s, tostring(%s), a, b, c, c.x, type(c.y)}", operand(t, 3), operand(t, 3))
	return b.String()
}

// TestAnyScriptAsRedis runs random programs on redis-server and on a machine.
func TestAnyScriptAsRedis(t *testing.T) {
	redis := startRedis(t)
	m := NewMachine(Options{Version: "7.0.15"})
	rapid.Check(t, func(t *rapid.T) {
		source := program(t)
		want := addresses.ReplaceAllString(redis.eval(t, source), "0x0")
		got := addresses.ReplaceAllString(reply(m, source), "0x0")
		if got != want {
			t.Fatalf("%s\n got %q\nwant %q", source, got, want)
		}
	})
}
