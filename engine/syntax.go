package engine

import "strings"

// Syntax is the line a user types, as Redis' pages write it: [optional],
// <one | of>, several [several ...].
func (c *Command) Syntax() string {
	words := []string{c.FullName()}
	for _, a := range c.Args {
		words = append(words, a.syntax())
	}
	return strings.Join(words, " ")
}

func (a Arg) syntax() string {
	text := a.Name
	switch a.Type {
	case PureToken:
		text = a.Token
	case OneOf:
		text = a.choices()
	case Block:
		text = joined(a.Args, " ")
	}
	if a.Multiple {
		text += " [" + text + " ...]"
	}
	if a.Token != "" && a.Type != PureToken {
		text = a.Token + " " + text
	}
	if a.Optional {
		return "[" + text + "]"
	}
	return text
}

// choices are the alternatives of a OneOf, in angle brackets unless the square
// ones of an option already hold them together.
func (a Arg) choices() string {
	text := joined(a.Args, " | ")
	if a.Optional && a.Token == "" && !a.Multiple {
		return text
	}
	return "<" + text + ">"
}

func joined(args []Arg, between string) string {
	var words []string
	for _, a := range args {
		words = append(words, a.syntax())
	}
	return strings.Join(words, between)
}
