//go:build !windows

package pipe

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// ListenNamed listens on a named pipe, which only Windows has. Error: [errors.ErrUnsupported].
func ListenNamed(path string) (net.Listener, error) { return nil, unsupported(path) }

func dialNamed(_ context.Context, path string) (net.Conn, error) { return nil, unsupported(path) }

func unsupported(path string) error {
	return fmt.Errorf("found %q, a named pipe of Windows, expected the path of a Unix socket: %w", path, errors.ErrUnsupported)
}
