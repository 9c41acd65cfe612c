package jsx

import (
	"context"
	"syscall/js"
	"testing"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func object() Value { return must(ToJS(map[string]any{"n": 1, "s": "text", "o": map[string]any{}})) }

func BenchmarkCrossing(b *testing.B) {
	o := object()
	plain := raw(o)
	max := must(Lookup(Global(), "Math.max"))
	math := must(Get(Global(), "Math"))
	b.Run("raw/invoke", func(b *testing.B) {
		for b.Loop() {
			raw(max).Invoke(1, 2)
		}
	})
	b.Run("raw/call", func(b *testing.B) {
		for b.Loop() {
			raw(math).Call("max", 1, 2)
		}
	})
	b.Run("raw/getNumber", func(b *testing.B) {
		for b.Loop() {
			plain.Get("n")
		}
	})
	b.Run("raw/getObject", func(b *testing.B) {
		for b.Loop() {
			plain.Get("o")
		}
	})
	b.Run("safejs/getObject", func(b *testing.B) {
		for b.Loop() {
			_ = must(o.Get("o"))
		}
	})
	b.Run("jsx/invoke", func(b *testing.B) {
		for b.Loop() {
			_ = must(Invoke(max, 1, 2))
		}
	})
	b.Run("jsx/call", func(b *testing.B) {
		for b.Loop() {
			_ = must(Call(math, "max", 1, 2))
		}
	})
	b.Run("jsx/method", func(b *testing.B) {
		m := must(NewMethod("Math.max"))
		for b.Loop() {
			_ = must(m.Call(math, 1, 2))
		}
	})
	b.Run("jsx/getNumber", func(b *testing.B) {
		for b.Loop() {
			_ = must(GetInt(o, "n"))
		}
	})
	b.Run("jsx/getObject", func(b *testing.B) {
		for b.Loop() {
			_ = must(Get(o, "o"))
		}
	})
	b.Run("jsx/getString", func(b *testing.B) {
		for b.Loop() {
			_ = must(GetString(o, "s", 100))
		}
	})
	b.Run("jsx/set", func(b *testing.B) {
		for b.Loop() {
			if err := Set(o, "n", 2); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("jsx/errorOf", func(b *testing.B) {
		e := must(NewGlobal("DOMException", "gone", "NotFoundError"))
		for b.Loop() {
			if ErrorOf(e).Name != "NotFoundError" {
				b.Fatal()
			}
		}
	})
	b.Run("jsx/toJS", func(b *testing.B) {
		x := map[string]any{"type": "patch", "key": "b12", "n": 3, "list": []any{1, 2, "three"}}
		for b.Loop() {
			_ = must(ToJS(x))
		}
	})
}

func BenchmarkCallback(b *testing.B) {
	b.Run("raw", func(b *testing.B) {
		f := js.FuncOf(func(js.Value, []js.Value) any { return nil })
		defer f.Release()
		for b.Loop() {
			f.Invoke(1)
		}
	})
	b.Run("raw/make", func(b *testing.B) {
		for b.Loop() {
			js.FuncOf(func(js.Value, []js.Value) any { return nil }).Release()
		}
	})
	s := NewScope(ScopeOptions{})
	defer s.Close()
	b.Run("jsx", func(b *testing.B) {
		f, release, err := s.Func(func([]Value) {})
		if err != nil {
			b.Fatal(err)
		}
		defer release()
		for b.Loop() {
			_, _ = invoke(raw(f), 1)
		}
	})
	b.Run("jsx/make", func(b *testing.B) {
		for b.Loop() {
			_, release, err := s.Func(func([]Value) {})
			if err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
}

func BenchmarkAwait(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	settled := must(Call(must(Get(Global(), "Promise")), "resolve", 1))
	b.Run("raw", func(b *testing.B) {
		for b.Loop() {
			ch := make(chan js.Value, 1)
			ok := js.FuncOf(func(_ js.Value, args []js.Value) any { ch <- args[0]; return nil })
			bad := js.FuncOf(func(_ js.Value, args []js.Value) any { ch <- args[0]; return nil })
			raw(settled).Call("then", ok, bad)
			<-ch
			ok.Release()
			bad.Release()
		}
	})
	b.Run("jsx", func(b *testing.B) {
		for b.Loop() {
			_ = must(Await(ctx, settled))
		}
	})
}

func BenchmarkBytes(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		data := make([]byte, size)
		there := must(FromBytes(data))
		b.Run("toGo/"+map[int]string{1 << 10: "1KiB", 1 << 20: "1MiB"}[size], func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				_ = must(Bytes(there, size))
			}
		})
		b.Run("copyToGo/"+map[int]string{1 << 10: "1KiB", 1 << 20: "1MiB"}[size], func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				_ = must(CopyToGo(data, there, 0))
			}
		})
	}
}

func BenchmarkPort(b *testing.B) {
	ctx := context.Background()
	s := NewScope(ScopeOptions{})
	defer s.Close()
	near, far, err := s.Channel()
	if err != nil {
		b.Fatal(err)
	}
	q := must(must(s.Port(far)).Receive(QueueOptions[Message]{}))
	b.Run("roundtrip", func(b *testing.B) {
		for b.Loop() {
			if err := near.Post("hello"); err != nil {
				b.Fatal(err)
			}
			_ = must(q.Recv(ctx))
		}
	})
	b.Run("burst100", func(b *testing.B) {
		for b.Loop() {
			for range 100 {
				if err := near.Post("hello"); err != nil {
					b.Fatal(err)
				}
			}
			for range 100 {
				_ = must(q.Recv(ctx))
			}
		}
	})
}

func BenchmarkYield(b *testing.B) {
	ctx := context.Background()
	for b.Loop() {
		if err := Yield(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
