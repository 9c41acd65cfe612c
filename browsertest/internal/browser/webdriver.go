package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// webdriver is a session of a WebDriver server.
type webdriver struct {
	base string // http://127.0.0.1:PORT
	id   string
}

// call runs a command of the session, and decodes its value unless result is nil. The error wraps
// ErrUnsupported if the server has no such command.
func (w *webdriver) call(ctx context.Context, verb, path string, params, result any) error {
	var body io.Reader
	if verb == http.MethodPost {
		if params == nil {
			params = struct{}{}
		}
		data, err := json.Marshal(params)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	url := w.base + "/session"
	if w.id != "" {
		url += "/" + w.id
	}
	req, err := http.NewRequestWithContext(ctx, verb, url+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer struct{ Value json.RawMessage }
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("browser: WebDriver %s %s: %s", verb, path, data)
	}
	if resp.StatusCode != http.StatusOK {
		var e struct{ Error, Message string }
		json.Unmarshal(answer.Value, &e)
		err := fmt.Errorf("browser: WebDriver %s %s: %s: %s", verb, path, e.Error, e.Message)
		if e.Error == "unknown command" || e.Error == "unsupported operation" {
			err = errors.Join(err, ErrUnsupported)
		}
		return err
	}
	if result != nil {
		return json.Unmarshal(answer.Value, result)
	}
	return nil
}
