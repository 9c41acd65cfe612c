package typescript

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/protocol"
)

// strip is the code behind the library. It returns an object with code, or with error.
//
//go:embed strip.js
var strip string

// MaxLibrary is the most bytes of the library.
const MaxLibrary = 512 << 10

// A Stripper removes types. It is safe for concurrent use if its functions are.
type Stripper struct {
	// Library returns the text of guests/typescript.js. After a success it is not called again.
	Library func(ctx context.Context) (string, error)
	// Run runs code, the body of an async function, in an enclave with args, and returns its value. It must give the code
	// no tools.
	Run func(ctx context.Context, code string, args any) (any, error)

	mu      sync.Mutex
	program string
}

// Strip returns code without its types. If code is not TypeScript, or has a part that JavaScript lacks, the error is a
// *[protocol.RunError] with the line. Any other error means that the types could not be removed here.
func (s *Stripper) Strip(ctx context.Context, code string) (string, error) {
	program, err := s.load(ctx)
	if err != nil {
		return "", fmt.Errorf("TypeScript can't be run here, write JavaScript: %w", err)
	}
	out, err := s.Run(ctx, program, code)
	if err != nil {
		return "", fmt.Errorf("the types could not be removed: %w", err)
	}
	answer, _ := out.(map[string]any)
	if plain, ok := answer["code"].(string); ok {
		return plain, nil
	}
	if message, ok := answer["error"].(string); ok {
		return "", &protocol.RunError{Code: protocol.ErrInvalidParams, Name: "SyntaxError", Message: message}
	}
	return "", errors.New("the types could not be removed: the library returned no code")
}

// marked is the first statement of each module of the library. At the two strictest levels it would throw.
const marked = `Object.defineProperty(exports, "__esModule", {value: true});`

// load returns the library with the code behind it.
func (s *Stripper) load(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.program == "" {
		library, err := s.Library(ctx)
		if err != nil {
			return "", err
		}
		s.program = strings.ReplaceAll(library, marked, "exports.__esModule = true;") + strip
	}
	return s.program, nil
}
