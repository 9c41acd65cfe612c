package wasm

import (
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
)

// The twin writes the messages of the vectors.
func TestTwinMessages(t *testing.T) {
	class, err := jsx.NewGlobal("Function", "make", `"use strict";`+jsx.PackedJS+JS+`
		const bytes = (...b) => new Uint8Array(b);
		return new Function("w", "bytes", "return " + make)(baileyWasm, bytes);`)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range readVectors(t).Messages {
		made, err := jsx.Invoke(class, v.Make)
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		b, err := jsx.Bytes(made, 1<<20)
		if got := hex.EncodeToString(b); err != nil || got != v.Hex {
			t.Errorf("%s: %s, %v; want %s", v.Name, got, err, v.Hex)
		}
	}
}

// Orders arrive in JavaScript as the objects of the vectors.
func TestTwinOrders(t *testing.T) {
	class, err := jsx.Get(jsx.Global(), "JSON")
	if err != nil {
		t.Fatal(err)
	}
	made := orders()
	for _, v := range readVectors(t).Orders {
		object, err := jsx.ToJS(made[v.Name])
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		text, err := jsx.Call(class, "stringify", object)
		if err != nil {
			t.Fatal(err)
		}
		s, err := jsx.String(text, 1<<20)
		if err != nil || !json.Valid([]byte(s)) || !same(t, []byte(s), v.Object) {
			t.Errorf("%s: %s, %v; want %s", v.Name, s, err, v.Object)
		}
	}
}
