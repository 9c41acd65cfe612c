package markdown

import "fmt"

// Limits bound the cost of rendering one text. They are checked before the text reaches any parser that
// recurses or scans back. A text above a limit is shown as plain text with a note, and nothing
// of it is dropped. A zero field means the default.
type Limits struct {
	// Bytes is the size of the Markdown that is rendered. Text after that is shown as plain
	// text. Default 4 MiB, at most 1 GiB.
	Bytes int

	// BlockBytes is the size of one top-level block. A code fence may instead have Bytes.
	// Default 512 KiB, at most 16 MiB.
	BlockBytes int

	// Depth is the nesting depth of block quotes and lists, and of HTML elements. A recursive
	// parser needs stack for each level, and in a browser a stack overflow ends the Go program.
	// Default 32, at most 100.
	Depth int

	// LineBytes is the size of one line without the data of images. Default 32 KiB, at most 1
	// MiB.
	LineBytes int

	// Delimiters is the number of characters in one paragraph, heading or row of cells that may
	// have a meaning in Markdown, such as * _ ~ ` [ ] < $ and &. Default 4,000, at most 65,536.
	Delimiters int

	// TableCells is the number of cells of one table: its rows times its columns. Default
	// 20,000, at most 1,048,576.
	TableCells int

	// ImageBytes is the size of one data: image, decoded. Default 256 KiB, at most 16 MiB.
	ImageBytes int

	// References is the number of link references that a text may define, and also the number
	// of footnotes. Further definitions are shown as plain text. Default 1,000, at most 65,536.
	References int

	// GroupBytes is the maximum distance from an opening tag to a closing tag in a later block.
	// Default 64 KiB, at most 1 MiB.
	GroupBytes int
}

// Defaults of Limits, and the maximum of Depth.
const (
	defaultBytes      = 4 << 20
	defaultBlockBytes = 512 << 10
	defaultDepth      = 32
	maxDepth          = 100
	defaultLineBytes  = 32 << 10
	defaultDelimiters = 4000
	defaultTableCells = 20000
	defaultImageBytes = 256 << 10
	defaultReferences = 1000
	defaultGroupBytes = 64 << 10
)

func (l Limits) withDefaults() (Limits, error) {
	for _, f := range []struct {
		name     string
		value    *int
		def, max int
	}{
		{"Bytes", &l.Bytes, defaultBytes, 1 << 30},
		{"BlockBytes", &l.BlockBytes, defaultBlockBytes, 1 << 24},
		{"Depth", &l.Depth, defaultDepth, maxDepth},
		{"LineBytes", &l.LineBytes, defaultLineBytes, 1 << 20},
		{"Delimiters", &l.Delimiters, defaultDelimiters, 1 << 16},
		{"TableCells", &l.TableCells, defaultTableCells, 1 << 20},
		{"ImageBytes", &l.ImageBytes, defaultImageBytes, 1 << 24},
		{"References", &l.References, defaultReferences, 1 << 16},
		{"GroupBytes", &l.GroupBytes, defaultGroupBytes, 1 << 20},
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
