package sandbox

import "context"

// Steer queues a user message for the active run. The model receives it before its next step. If no
// run is active, the message is stored as with [Session.Say]. If the run has no further step, the
// message is stored when the run ends. In both cases the next run answers it. Queued messages are
// in memory until they are stored, and [Session.Close] stores the rest. If storing one fails, the
// run yields the error. The message is then stored before any later one, by the next run or by Say.
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

// hear stores the first queued message and returns its id and text, or "" if the queue is empty. It
// works even after ctx has ended, because an interruption must not lose a message of the user. If
// storing fails, the message stays first in the queue.
func (s *Session) hear(ctx context.Context) (id, text string, err error) {
	s.hearing.Lock() // the run and Close may both call hear
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

// leftBehind reports whether an earlier run failed to store all queued messages.
func (s *Session) leftBehind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steer) > 0 && !s.busy()
}

// busy reports whether a run is active. mu is held.
func (s *Session) busy() bool { return s.status == StatusBusy || s.status == StatusRetrying }

// giveBack ends a run's use of the session. If messages are queued and anyway is not set, it does
// nothing and returns false: they must be stored first. If anyway is set, they stay in the queue
// for the next run.
func (s *Session) giveBack(st Status, anyway bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steer) > 0 && !anyway {
		return false
	}
	s.stop, s.status = nil, st
	return true
}

// shut closes the session. If messages are queued and anyway is not set, it does nothing and
// returns false.
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

// finish stores the queued messages before it releases the session. A run that began in between
// would not send them to the model, and would put its answer before them.
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

// hear stores all queued messages and emits a chunk for each.
func (r *run) hear(ctx context.Context) error {
	for {
		id, text, err := r.s.hear(ctx)
		if id == "" || err != nil {
			return err
		}
		r.emit(Chunk{Type: "data-steer", ID: id, Data: map[string]any{"text": text}})
	}
}
