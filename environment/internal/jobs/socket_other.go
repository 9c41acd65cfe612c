//go:build !linux

package jobs

import (
	"context"
	"errors"
	"net"
	"os"
)

var errSocket = errors.New("jobs: jobs run on Linux alone")

func openSocket(string) (*os.File, error) { return nil, errSocket }

func dialSocket(context.Context, *os.File) (net.Conn, error) { return nil, errSocket }
