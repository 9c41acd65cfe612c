//go:build !js

package provider

import (
	"context"
	"errors"
)

func promptState(context.Context, *PromptAPI, bool) (string, error) { return promptMissing, nil }

func promptStream(context.Context, *PromptAPI, promptRequest, func(string) error) (promptUsage, error) {
	return promptUsage{}, errors.ErrUnsupported
}
