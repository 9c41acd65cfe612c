package sandbox

import "context"

// Steer has the model hear text before its next step. If nothing runs, or the run has no
// step after this, it is said, and the next run answers it. Until it is stored it is kept
// in memory: [Session.Close] stores it, and if the store fails, the run yields the error
// and the next run, or [Session.Say], says it first.
func (s *Session) Steer(ctx context.Context, text string) error {
	s.mu.Lock()
	busy := s.busy() && !s.closed
	if busy {
		s.steer = append(s.steer, text)
	}
	s.mu.Unlock()
	if busy {
		return nil
	}
	_, err := s.Say(ctx, text)
	return err
}

// hear stores the text that was steered first, even if ctx has ended: a stop takes back
// nothing that the person said. id is "" if there is none. One that can't be stored stays
// the first.
func (s *Session) hear(ctx context.Context) (id, text string, err error) {
	s.hearing.Lock() // the run and Close may both be at it
	defer s.hearing.Unlock()
	s.mu.Lock()
	if len(s.steer) == 0 {
		s.mu.Unlock()
		return "", "", nil
	}
	text = s.steer[0]
	s.mu.Unlock()
	if id, err = s.say(context.WithoutCancel(ctx), text, "steer"); err != nil {
		return "", text, err
	}
	s.mu.Lock()
	s.steer = s.steer[1:]
	s.mu.Unlock()
	return id, text, nil
}

// leftBehind reports whether an earlier run could not store all that was steered.
func (s *Session) leftBehind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steer) > 0 && !s.busy()
}

// busy is called with mu held.
func (s *Session) busy() bool { return s.status == StatusBusy || s.status == StatusRetrying }

// giveBack ends a run's hold of the session; false if something steered is to be stored
// before. It stays for the next run if it is to end anyway.
func (s *Session) giveBack(st Status, anyway bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steer) > 0 && !anyway {
		return false
	}
	s.stop, s.status = nil, st
	return true
}

// shut closes the session; false if something steered is to be stored before.
func (s *Session) shut(anyway bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
	case len(s.steer) > 0 && !anyway:
		return false
	default:
		s.closed = true
		s.unlock()
	}
	return true
}

// finish stores what was steered and not heard, and gives the session back only then: a
// run that began before would not hear it, and answer in front of it.
func (r *run) finish(ctx context.Context, st Status) {
	var err error
	for !r.s.giveBack(st, err != nil) {
		if _, _, err = r.s.hear(ctx); err != nil {
			st = StatusError
		}
	}
	if err != nil {
		r.fail(err)
	}
}

// hear has the model hear what was steered.
func (r *run) hear(ctx context.Context) error {
	for {
		id, text, err := r.s.hear(ctx)
		if id == "" || err != nil {
			return err
		}
		r.emit(Chunk{Type: "data-steer", ID: id, Data: map[string]any{"text": text}})
	}
}
