package core

// A journaled write is two writes and a read, one after the other. A browser does each in
// another process, with several messages, and most of these can run at the same time. So
// the record's file is opened, and the new content written to a swap file, while the old
// content is read. Only two steps stay in order, which is enough for safety: the record is
// closed, and therefore stored, before the new content replaces the old one.

// Pending is a replacement that is being prepared in another goroutine.
type Pending struct {
	Done chan struct{}
	R    Replacement
	Err  error
}

func Begin(prepare func() (Replacement, error)) *Pending {
	p := &Pending{Done: make(chan struct{})}
	go func() {
		defer close(p.Done)
		p.R, p.Err = prepare()
	}()
	return p
}

// Wait returns the replacement when it is prepared.
func (p *Pending) Wait() (Replacement, error) {
	<-p.Done
	return p.R, p.Err
}

// Abort drops a replacement that is not committed. On a nil pending it does nothing.
func (p *Pending) Abort() {
	if p == nil {
		return
	}
	if r, _ := p.Wait(); r != nil {
		r.Abort()
	}
}

// Filled returns a replacement after writing its whole content. If the write fails, it
// aborts the replacement.
func Filled(r Replacement, err error, data []byte) (Replacement, error) {
	if err != nil {
		return nil, err
	}
	if _, err := r.Write(data); err != nil {
		r.Abort()
		return nil, err
	}
	return r, nil
}
