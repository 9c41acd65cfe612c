package markdown

import "fmt"

// Limits bound the cost of a text. They are checked before the text reaches any parser that
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
	// Default 32, at most MaxDepth.
	Depth int

	// LineBytes is the size of one line without the data of images. Default 32 KiB, at most 1
	// MiB.
	LineBytes int

	// Delimiters is the number of characters in one paragraph, heading or row of cells that may
	// have a meaning in Markdown, such as * _ ~ ` [ ] < and &. Default 4,000, at most 65,536.
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

// Defaults of Limits, and the maximum of Limits.Depth.
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
