//go:build !linux

package browser

import "os/exec"

func prepareChild(*exec.Cmd) {}

func detach(*exec.Cmd) {}
