package main

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

const (
	maxKept      = 8        // compiled programs
	maxKeptBytes = 64 << 20 // bytes of all of them together
)

// kept has the programs that were compiled last, for the next run of the same bytes. A program is kept for a limit of memory, which is
// compiled into it.
type kept[M io.Closer] struct {
	mu   sync.Mutex
	list []*program[M] // the one that was used last is the last
}

type program[M io.Closer] struct {
	wasm   []byte
	memory int64
	module M
	runs   int  // that use it
	gone   bool // it is closed with the last run
}

// use returns the program of some bytes, which it compiles if it is not kept. The caller ends the use with done, and does not change wasm.
func (k *kept[M]) use(wasm []byte, memory int64, compile func() (M, error)) (*program[M], error) {
	if p := k.find(wasm, memory); p != nil {
		return p, nil
	}
	m, err := compile()
	if err != nil {
		return nil, err
	}
	if p := k.find(wasm, memory); p != nil { // another run has compiled it meanwhile
		_ = m.Close()
		return p, nil
	}
	p := &program[M]{wasm: wasm, memory: memory, module: m, runs: 1}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, p)
	total := 0
	for i := len(k.list) - 1; i >= 0; i-- {
		if total += len(k.list[i].wasm); total > maxKeptBytes || len(k.list)-i > maxKept {
			for _, old := range k.list[:i+1] {
				old.gone = true
				old.end()
			}
			k.list = slices.Clone(k.list[i+1:])
			break
		}
	}
	return p, nil
}

func (k *kept[M]) find(wasm []byte, memory int64) *program[M] {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, p := range k.list {
		if p.memory == memory && bytes.Equal(p.wasm, wasm) {
			k.list = append(slices.Delete(k.list, i, i+1), p)
			p.runs++
			return p
		}
	}
	return nil
}

func (k *kept[M]) done(p *program[M]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p.runs--
	p.end()
}

// end closes a program that is no longer kept and has no run.
func (p *program[M]) end() {
	if p.gone && p.runs == 0 {
		_ = p.module.Close()
	}
}
