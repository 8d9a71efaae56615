package compare

import (
	"math"
	"os"
	"path/filepath"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// point is one of a line: x and the median of what was found there.
type point struct{ x, y float64 }

// line is one contender's.
type line struct {
	name   string
	points []point
}

// plot is one picture.
type plot struct {
	file, title, x, y string
	logarithmic       bool
	data              func(Results) []line // nil when there is nothing to show
}

// plots are all pictures.
func plots() []plot {
	return []plot{
		{"latency-load.svg", "p99 latency against load", "requests a second", "us", true, func(r Results) []line {
			return r.lines("load", func(run Run) float64 { return float64(run.Offered) }, p99Of)
		}},
		{"cost-depth.svg", "server CPU against depth, one core", "requests sent at a time", "us a request", true, func(r Results) []line {
			return r.lines("one-core", func(run Run) float64 { return float64(run.Depth) }, cpuOf)
		}},
		{"bytes-keys.svg", "resident memory against keys", "keys", "bytes a key", false, func(r Results) []line {
			return r.lines("memory", func(run Run) float64 { return float64(run.Size) }, bytesPerKey)
		}},
	}
}

// lines are the medians of y at each x, for each contender of a part. A run without
// an x does not count.
func (r Results) lines(name string, x, y func(Run) float64) (lines []line) {
	p, _ := findPart(name)
	for _, c := range p.contenders {
		runs := map[float64][]Run{}
		for _, run := range r.of(name, func(run Run) bool { return run.Contender == c.name && x(run) > 0 }) {
			runs[x(run)] = append(runs[x(run)], run)
		}
		l := line{name: c.name}
		for at, there := range runs {
			if s := spreadOf(there, y); s.n > 0 && s.median > 0 {
				l.points = append(l.points, point{at, s.median})
			}
		}
		slices.SortFunc(l.points, func(a, b point) int { return int(a.x - b.x) })
		if len(l.points) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// The size of a picture.
const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 10 * vg.Centimeter
)

// writePlots writes the pictures there is something for.
func (r Results) writePlots(folder string) error {
	for _, p := range plots() {
		lines := p.data(r)
		if lines == nil {
			continue
		}
		if err := p.write(filepath.Join(folder, p.file), lines); err != nil {
			return err
		}
	}
	return nil
}

func (p plot) write(file string, lines []line) error {
	picture := gonum.New()
	picture.Title.Text, picture.X.Label.Text, picture.Y.Label.Text = p.title, p.x, p.y
	picture.Legend.Top = true
	picture.Add(plotter.NewGrid())
	for i, l := range lines {
		path, dots, err := plotter.NewLinePoints(l.xys())
		if err != nil {
			return err
		}
		path.Color, dots.Color, dots.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
		picture.Add(path, dots)
		picture.Legend.Add(l.name, path, dots)
	}
	p.scale(picture)
	if err := picture.Save(plotWidth, plotHeight, file); err != nil {
		_ = os.Remove(file) // half a picture is none
		return err
	}
	return nil
}

// scale sets the axes, with room for the legend above the lines.
func (p plot) scale(picture *gonum.Plot) {
	if !p.logarithmic {
		picture.Y.Min, picture.Y.Max = 0, picture.Y.Max*4/3
		return
	}
	picture.Y.Scale, picture.Y.Tick.Marker = gonum.LogScale{}, gonum.LogTicks{Prec: -1}
	picture.Y.Min = math.Pow(10, math.Floor(math.Log10(picture.Y.Min)))
	picture.Y.Max = math.Pow(10, math.Ceil(math.Log10(picture.Y.Max*4)))
}

func (l line) xys() plotter.XYs {
	xys := make(plotter.XYs, len(l.points))
	for i, p := range l.points {
		xys[i] = plotter.XY{X: p.x, Y: p.y}
	}
	return xys
}
