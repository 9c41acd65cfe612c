package fsaccess

import "context"

// manyReader is a core that can read many small files at once. For a nil content the caller
// reads that file by itself.
type manyReader interface {
	readMany(ctx context.Context, files []Entry) ([][]byte, error)
	// keeping returns a context in which a walk keeps the data that readMany will need.
	keeping(ctx context.Context) context.Context
}

// All layers pass both calls to the folder below, so a search through a guard and a journal
// is as fast as a search in that folder.

func readMany(ctx context.Context, c core, files []Entry) ([][]byte, error) {
	if m, ok := c.(manyReader); ok {
		return m.readMany(ctx, files)
	}
	return nil, nil
}

func keeping(ctx context.Context, c core) context.Context {
	if m, ok := c.(manyReader); ok {
		return m.keeping(ctx)
	}
	return ctx
}

func (j *journal) keeping(ctx context.Context) context.Context  { return keeping(ctx, j.core) }
func (r *readOnly) keeping(ctx context.Context) context.Context { return keeping(ctx, r.core) }
func (s *subCore) keeping(ctx context.Context) context.Context  { return keeping(ctx, s.c) }
func (g *guard) keeping(ctx context.Context) context.Context    { return keeping(ctx, g.core) }

func (j *journal) readMany(ctx context.Context, files []Entry) ([][]byte, error) {
	return readMany(ctx, j.core, files)
}

func (r *readOnly) readMany(ctx context.Context, files []Entry) ([][]byte, error) {
	return readMany(ctx, r.core, files)
}

func (s *subCore) readMany(ctx context.Context, files []Entry) ([][]byte, error) {
	below := make([]Entry, len(files))
	for i, e := range files {
		e.Path = s.p(e.Path)
		below[i] = e
	}
	return readMany(ctx, s.c, below)
}

// readMany of a guard reads the files that may be read. The caller reads the others one by
// one, and gets the reason of each refusal.
func (g *guard) readMany(ctx context.Context, files []Entry) ([][]byte, error) {
	may := make([]Entry, 0, len(files))
	at := make([]int, 0, len(files))
	for i, e := range files {
		if g.mayRead(e.Path) {
			may, at = append(may, e), append(at, i)
		}
	}
	read, err := readMany(ctx, g.core, may)
	if err != nil || len(read) != len(may) {
		return nil, err
	}
	out := make([][]byte, len(files))
	for k, i := range at {
		out[i] = read[k]
	}
	return out, nil
}
