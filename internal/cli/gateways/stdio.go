package gateways

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/usage"
)

// largestEvent is the largest message that a producer sends, in bytes.
const largestEvent = 16 << 20

type stdioFlags struct{ data, socket, tokenFile string }

func (m *commands) stdioCommand() *cobra.Command {
	var f stdioFlags
	c := &cobra.Command{
		Use:   "stdio",
		Short: "Be a producer of AAEP on standard input and output, for a program that listens",
		Long: `Be a producer of AAEP on standard input and output, by JSON-RPC 2.0, one message in a line,
as a screen reader's add-on or another program that listens starts one. It comes to the
Unix socket of the "earshot up" that runs on the data directory; no port and no address are
needed.

The program sends the request aaep.subscribe with a subscription.request as its params, and
gets subscription.accepted or subscription.rejected as the result; events come as
aaep.event. Replies are aaep.reply, other terms aaep.renegotiate, the end aaep.close.

Without a token it may listen, and answer nothing. With one of --token-file it may do what
the token may: earshot token add NAME --role approver.

It ends when standard input ends. Exit codes: 0 the program has left; 1 the server cannot
be reached, or has ended the connection; 2 usage.`,
		Example: `  earshot stdio
  earshot stdio --token-file ~/reader.token`,
		Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error { return m.stdio(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", cli.DataUsage)
	flags.StringVar(&f.socket, "socket", "", "path of the server's Unix socket (default the one of the server that runs on the data directory)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token to listen with, such as one of earshot token add (default none)")
	cli.MarkPaths(c, []string{"data"}, []string{"socket", "token-file"})
	return c
}

func (m *commands) stdio(ctx context.Context, f stdioFlags) error {
	ctx, stop := m.UntilInterrupted(ctx)
	defer stop()
	producer, err := m.dialSocket(ctx, f)
	if err != nil {
		return err
	}
	err = pipe.Join(ctx, pipe.NewRPC(standard{m.Stdin, m.Stdout}, transport.MessageLimit), producer)
	switch end, is := errors.AsType[*transport.Error](err); {
	case err == nil:
		return nil
	case is:
		return cause.Fail(nil, "the server has ended the connection: "+end.Reason, "start earshot stdio again")
	}
	return cause.Fail(nil, "the connection to the server has ended", "see that `earshot up` runs, and start earshot stdio again")
}

// dialSocket connects to the server, and shows the token.
func (m *commands) dialSocket(ctx context.Context, f stdioFlags) (*pipe.Conn, error) {
	token, err := tokenIn(f.tokenFile)
	if err != nil {
		return nil, err
	}
	path, err := m.socketOf(f)
	if err != nil {
		return nil, err
	}
	conn, err := pipe.Dial(ctx, path, pipe.Options{Limit: largestEvent})
	if err != nil {
		return nil, cause.Fail(err, "the Unix socket "+cause.OneLine(path)+" cannot be reached", "see that `earshot up` runs")
	}
	if token == "" {
		return conn, nil
	}
	shown, err := json.Marshal(transport.Authenticate{Type: transport.TypeAuthenticate, Token: token})
	if err == nil {
		err = conn.Send(shown)
	}
	if err != nil {
		conn.Drop()
		return nil, cause.Fail(err, "the token cannot be sent to the server", "see that `earshot up` runs")
	}
	return conn, nil
}

// socketOf returns the path of the server's socket.
func (m *commands) socketOf(f stdioFlags) (string, error) {
	switch {
	case f.socket != "" && f.data != "":
		return "", cause.Misuse("both --data and --socket are named", "name the server by one of them")
	case f.socket != "":
		return f.socket, nil
	}
	path, err := m.DataPath(f.data, false)
	if err != nil {
		return "", err
	}
	if err := cli.FoundServer(path); err != nil {
		return "", err
	}
	info, err := client.ReadServerFile(filepath.Join(path, datadir.ServerFile))
	if err != nil {
		return "", cli.ServerFailure(err)
	}
	if info.Socket == "" {
		return "", cause.Fail(nil, "the server has no Unix socket", "start `earshot up` with --socket PATH, or without --socket none")
	}
	return info.Socket, nil
}

// tokenIn reads a token from a file; "" is no file.
func tokenIn(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", cause.Misuse("the token file cannot be read: "+cause.Of(err), "name a file that holds a token, as `earshot token add` shows it")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
	return strings.TrimSpace(first), nil
}

// standard is standard input and output as one stream.
type standard struct {
	*os.File // input

	out io.Writer
}

// Write implements [io.Writer].
func (s standard) Write(p []byte) (int, error) { return s.out.Write(p) } //nolint:wrapcheck // the connection says so
