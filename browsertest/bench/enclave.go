package main

import (
	"context"
	"path/filepath"
	"slices"
)

const (
	bareWorkerBelow = "floor: two bare srcdoc frames with a worker in them"
	barePairBelow   = "floor: two bare srcdoc frames with a worker in them and another below it"
	bareStart       = "floor: a bare blob: worker that returns 1"
	barePing        = "floor: a bare port's ping into two bare srcdoc frames, through a worker to the worker below it"
	barePair        = "a bare port's ping through a worker of the page to the worker below it"
)

// figure is one measurement, which returns rows.
type figure struct {
	id   string
	rows func(ctx context.Context, page *Page) ([]Row, error)
}

func runEnclave(ctx context.Context, e *Env) ([]Row, error) {
	peers := map[string]string{}
	for _, name := range []string{"comlink", "penpal"} {
		version, err := e.Peer(name)
		if err != nil {
			return nil, err
		}
		peers[name] = version
	}
	if _, err := e.Build(ctx, filepath.Join(e.Root, "browsertest"), "./bench/wasm", "bench"); err != nil {
		return nil, err
	}
	// against returns a figure that compares the medians of ours and of the floor.
	against := func(id, function, peer string, goal float64, args ...any) figure {
		return figure{id, func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, function, &s, args...)
			return []Row{newRow(id, s.median("ours"), s.median("floor"), peer, "ms", goal)}, err
		}}
	}
	// starts returns a figure of a start. It compares with the same frames and workers, and with one worker less.
	starts := func(id, function string, goal float64, rounds int) figure {
		return figure{id, func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, function, &s, rounds)
			return []Row{
				newRow(id, s.median("ours"), s.median("pair"), barePairBelow, "ms", goal),
				newRow(id, s.median("ours"), s.median("floor"), bareWorkerBelow, "ms", 0),
			}, err
		}}
	}
	list := []figure{
		starts("enclave.cold", "cold", 1.35, e.Rounds(32)),
		starts("enclave.cold.shared", "shared", 1.1, e.Rounds(16)),
		against("enclave.result.1MiB", "resultOf", "floor: a bare worker's JSON text and JSON.parse", 0, e.Rounds(16), 1<<20-1<<14),
		{"enclave.fresh", func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, "fresh", &s, e.Rounds(80))
			return []Row{newRow("enclave.fresh", s.median("ours"), s.median("floor"), bareStart, "ms", 1.5)}, err
		}},
		{"enclave.warm", func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, "warm", &s, e.Rounds(80))
			return []Row{
				newRow("enclave.warm", s.median("ours"), 5, "budget: 5 ms, EnclaveOptions.Warm: the worker made ahead too", "ms", 1),
				newRow("enclave.warm", s.median("ours"), s.median("floor"), bareStart, "ms", 0),
			}, err
		}},
		{"enclave.call", func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, "calls", &s, e.Rounds(8), 300)
			return []Row{
				newRow("enclave.call", s.median("ours"), s.median("floor"), barePing, "ms", 3),
				newRow("enclave.call", s.median("ours"), s.median("pair"), barePair, "ms", 0),
				newRow("enclave.call", s.median("ours"), s.median("comlink"), peers["comlink"]+", one worker down, nothing checked", "ms", 0),
				newRow("enclave.call", s.median("ours"), s.median("penpal"), peers["penpal"]+", one worker down, nothing checked", "ms", 0),
				newRow("enclave.call.p95", quantile(s["ours"], 0.95), 1, "budget: 1 ms", "ms", 1),
				newRow("enclave.call.error", s.median("fails"), s.median("ours"), "a call that succeeds", "ms", 1.5),
			}, err
		}},
		{"enclave.calls.1000.parallel", func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, "together", &s, e.Rounds(24), 1000)
			const id = "enclave.calls.1000.parallel"
			return []Row{
				newRow(id, s.median("ours"), 100, "budget: 100 ms; limits raised to 10,000 calls, 100,000 a second", "ms", 1),
				newRow(id, s.median("ours"), s.median("comlink"), peers["comlink"]+", one worker down, nothing checked", "ms", 0),
				newRow(id, s.median("ours"), s.median("penpal"), peers["penpal"]+", one worker down, nothing checked", "ms", 0),
			}, err
		}},
		{"enclave.sibling", func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, "sibling", &s, e.Rounds(8))
			return []Row{newRow("enclave.sibling", s.median("ours"), s.median("quiet"), "the same run while no other spins", "ms", 4)}, err
		}},
		{"enclave.refusal.100MB", func(ctx context.Context, page *Page) ([]Row, error) {
			var took []float64
			err := page.Call(ctx, "refusal", &took, e.Rounds(8))
			return []Row{newRow("enclave.refusal.100MB", slices.Max(append(took, 0)), 50, "budget: 50 ms; ours is the longest that the page stood still", "ms", 1)}, err
		}},
		{"enclave.memory.50live", func(ctx context.Context, _ *Page) ([]Row, error) { return liveMemory(ctx, e) }},
	}
	for _, who := range []string{"loop", "regex", "microtasks", "recursion", "sort", "allocation"} {
		id := "enclave.kill." + who
		list = append(list, figure{id, func(ctx context.Context, page *Page) ([]Row, error) {
			var took []float64
			err := page.Call(ctx, "kill", &took, who, max(1, e.Rounds(4)))
			return []Row{newRow(id, median(took), 1050, "budget: 1.05 s for a limit of 1 s", "ms", 1)}, err
		}})
	}
	var rows []Row
	for _, f := range list {
		if !e.Wants(f.id) {
			continue
		}
		page, err := openEnclaves(ctx, e)
		if err != nil {
			return nil, err
		}
		got, err := f.rows(ctx, page)
		page.Close()
		if err != nil {
			return nil, err
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

func openEnclaves(ctx context.Context, e *Env) (*Page, error) {
	page, err := e.Open(ctx, "/enclave.html")
	if err != nil {
		return nil, err
	}
	if err := page.Call(ctx, "load", nil); err != nil {
		page.Close()
		return nil, err
	}
	return page, nil
}

// liveMemory returns the memory that each of 50 enclaves adds to the browser's renderers. They are
// either ready for a run, with an inner frame and a broker, or in a run, with another worker below
// the broker. The floors are two bare frames with a worker, and two with a worker and another below
// it.
func liveMemory(ctx context.Context, e *Env) ([]Row, error) {
	const n = 50
	s := samples{}
	for range max(2, e.Rounds(3)) {
		for _, who := range []string{"ready", "running", "floor", "pairs"} {
			page, err := openEnclaves(ctx, e)
			if err != nil {
				return nil, err
			}
			before, err := renderers(ctx, e, page)
			if err == nil {
				err = page.Call(ctx, "live", nil, who, n)
			}
			after := 0.0
			if err == nil {
				after, err = renderers(ctx, e, page)
			}
			page.Close()
			if err != nil {
				return nil, err
			}
			s[who] = append(s[who], (after-before)/n)
		}
	}
	return []Row{
		newRow("enclave.memory.50live", s.median("ready"), 6, "budget: 6 MB each, ready for a run", "MB", 1),
		newRow("enclave.memory.50live", s.median("ready"), s.median("floor"), bareWorkerBelow, "MB", 0),
		newRow("enclave.memory.50running", s.median("running"), 6, "6 MB each, in a run", "MB", 0),
		newRow("enclave.memory.50running", s.median("running"), s.median("pairs"), barePairBelow, "MB", 0),
	}, nil
}
