package markdown

// tail is the open end of a text: it is rendered again and again, as it will
// probably end.
type tail struct {
	credit  int
	pending bool
}

const creditByte = 16

func (t *tail) blocks(d *doc) []shownBlock {
	return nil
}
