package pipe

import (
	"context"
	"fmt"
	"net"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// namedBuffer is how many bytes the system keeps for each direction of a named pipe (TR-NP-04, C-86).
const namedBuffer = 1 << 20

// ListenNamed listens on a named pipe, such as [NamedPath] returns. Programs of the same user on the same machine may connect, and nobody else
// (TR-NP-03). Its connections carry bytes in both directions, with the framing of a Unix socket (TR-NP-05), and belong to [New].
//
// Errors: that of the system, if the path is none or is taken; off Windows [errors.ErrUnsupported].
func ListenNamed(path string) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("the user of this process cannot be found: %w", err)
	}
	l, err := winio.ListenPipe(path, &winio.PipeConfig{
		SecurityDescriptor: "D:P(A;;GA;;;" + user.User.Sid.String() + ")", InputBufferSize: namedBuffer, OutputBufferSize: namedBuffer,
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return l, nil
}

func dialNamed(ctx context.Context, path string) (net.Conn, error) {
	return winio.DialPipeContext(ctx, path) //nolint:wrapcheck // the callers of Dial say what cannot be reached
}
