package markdown

import "fmt"

// Limits bound what a text may cost. They are checked before any parser that
// recurses or scans back sees the text. What is over a limit is shown as plain
// text with a note, never dropped. Zero fields take the defaults.
type Limits struct {
	// Bytes of Markdown that are rendered; what comes behind is shown as
	// plain text. Default 4 MiB.
	Bytes int

	// BlockBytes of one top-level block, but for a code fence, which may
	// have Bytes. Default 512 KiB.
	BlockBytes int

	// Depth of block quotes and lists in one another, and of HTML elements in
	// one another. A parser that recurses costs stack for each level, and in
	// a browser a stack overflow ends the Go program. Default 32, at most 100.
	Depth int

	// LineBytes of one line, but for the data of images. Default 32 KiB.
	LineBytes int

	// Delimiters are the characters of one paragraph, heading or row of cells
	// that may mean something: * _ ~ ` [ ] < & and so on. Default 4,000.
	Delimiters int

	// TableCells of one table: its rows times its columns. Default 20,000.
	TableCells int

	// ImageBytes of one data: image, decoded. Default 256 KiB.
	ImageBytes int

	// References are the link references that a text may define, and the
	// footnotes, each. Those behind are plain text. Default 1,000.
	References int

	// GroupBytes is how far behind an opening tag its closing tag may stand,
	// other blocks between them. Default 64 KiB.
	GroupBytes int
}

// Defaults of Limits.
const (
	DefaultBytes      = 4 << 20
	DefaultBlockBytes = 512 << 10
	DefaultDepth      = 32
	MaxDepth          = 100
	DefaultLineBytes  = 32 << 10
	DefaultDelimiters = 4000
	DefaultTableCells = 20000
	DefaultImageBytes = 256 << 10
	DefaultReferences = 1000
	DefaultGroupBytes = 64 << 10
)

func (l Limits) withDefaults() (Limits, error) {
	for _, f := range []struct {
		name     string
		value    *int
		def, max int
	}{
		{"Bytes", &l.Bytes, DefaultBytes, 1 << 30},
		{"BlockBytes", &l.BlockBytes, DefaultBlockBytes, 1 << 24},
		{"Depth", &l.Depth, DefaultDepth, MaxDepth},
		{"LineBytes", &l.LineBytes, DefaultLineBytes, 1 << 20},
		{"Delimiters", &l.Delimiters, DefaultDelimiters, 1 << 16},
		{"TableCells", &l.TableCells, DefaultTableCells, 1 << 20},
		{"ImageBytes", &l.ImageBytes, DefaultImageBytes, 1 << 24},
		{"References", &l.References, DefaultReferences, 1 << 16},
		{"GroupBytes", &l.GroupBytes, DefaultGroupBytes, 1 << 20},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < 1 || *f.value > f.max {
			return l, fmt.Errorf("markdown: Limits.%s is %d: want 1 to %d, or 0 for the default, %d", f.name, *f.value, f.max, f.def)
		}
	}
	return l, nil
}
