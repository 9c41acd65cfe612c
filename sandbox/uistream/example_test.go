package uistream_test

import (
	"fmt"
	"os"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/uistream"
)

// This example writes chunks for a page that uses useChat of AI SDK 7. In a program they come from
// Box.Run.
func ExampleWriter() {
	w, err := uistream.NewWriter(os.Stdout, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	name, value := w.Header()
	fmt.Printf("%s: %s\n\n", name, value)
	for _, c := range []sandbox.Chunk{{Type: "text-start", ID: "t"}, {Type: "text-delta", ID: "t", Delta: "hello"}, {Type: "text-end", ID: "t"}} {
		if err := w.Write(c); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// X-Vercel-AI-UI-Message-Stream: v1
	//
	// data: {"id":"t","type":"text-start"}
	//
	// data: {"delta":"hello","id":"t","type":"text-delta"}
	//
	// data: {"id":"t","type":"text-end"}
	//
	// data: [DONE]
}
