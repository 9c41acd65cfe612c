//go:build !js

package provider

import (
	"context"
	"errors"
)

func promptState(context.Context, PromptOptions) (string, error) { return promptMissing, nil }

func promptStream(context.Context, PromptOptions, promptRequest, func(string) error) (promptUsage, error) {
	return promptUsage{}, errors.ErrUnsupported
}
