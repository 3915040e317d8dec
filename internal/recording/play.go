package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/transport/web"
	"github.com/earshot-dev/earshot/internal/validation"
)

// PlayOptions say what is played, to whom.
type PlayOptions struct {
	Source *Source
	Name   string  // of the recording, for people
	Speed  float64 // how many times as fast as recorded; 0 is without any pause
	HTTP   string  // address on the loopback to serve at
	Once   bool    // ends when a listener has heard everything
	// Skipped gets each message that is broken, and is left out.
	Skipped func(*capture.BrokenError)
	Notice  func(string)
}

// Play plays a recording to anyone who listens, until ctx ends or, with Once, until a listener has heard everything.
func Play(ctx context.Context, o PlayOptions) error {
	listener, err := loopbackListener(ctx, o.HTTP)
	if err != nil {
		return err
	}
	recorded := web.NewRecording(web.RecordingOptions{Open: o.Source.open, Speed: o.Speed, Skipped: o.Skipped})
	server := &http.Server{Handler: recorded.Handler(), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // until it is closed
	}()
	defer func() {
		_ = server.Close()
		<-served
	}()
	o.Notice(fmt.Sprintf("Playing %s at http://%s/events and ws://%s/ws. Ctrl-C ends it.", cause.OneLine(o.Name), listener.Addr(), listener.Addr()))
	return o.play(ctx, recorded)
}

// play plays to the end, and stays for those who come late.
func (o PlayOptions) play(ctx context.Context, recorded *web.Recording) error {
	n, err := recorded.Play(ctx)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // interrupted, which is how it ends
	}
	if err != nil {
		return cause.Fail(err, "the recording cannot be played on", "")
	}
	o.Notice("All is played: " + legible.Counted(int64(n), "message") + ".")
	if !o.Once {
		<-ctx.Done()
		return nil
	}
	if recorded.WaitPlayed(ctx) != nil {
		return nil //nolint:nilerr // interrupted, which is how it ends
	}
	return linger(ctx)
}

// lingering is how long those who have heard everything may come back, to be told that
// there is no more.
const lingering = 2 * time.Second

func linger(ctx context.Context) error {
	timer := time.NewTimer(lingering)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// loopbackListener listens where only this machine can reach it: a recording has no
// rights of its own.
func loopbackListener(ctx context.Context, at string) (net.Listener, error) {
	host, _, err := address.Split("--http", at, "127.0.0.1:7412")
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, cause.Misuse(fmt.Sprintf("--http is %q, which others can reach", at), "use 127.0.0.1, or a tunnel from elsewhere")
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, &cause.Error{
			Kind: cause.Usage, Message: fmt.Sprintf("%s cannot be listened at: %v", at, err),
			Hint: "choose another port with --http, or 127.0.0.1:0 for any", Err: err,
		}
	}
	return listener, nil
}

// Source is a recording that can be read many times. Remove it at the end.
type Source struct {
	path    string
	spooled bool // the path is a copy, see [Spool]
}

// File is the recording in a file.
func File(path string) *Source { return &Source{path: path} }

// Spool copies what can be read once only, such as standard input, and is that.
func Spool(in io.Reader) (*Source, error) {
	file, err := os.CreateTemp("", "earshot-replay-*.jsonl")
	if err != nil {
		return nil, cause.Fail(err, "standard input cannot be kept", "see that there is room for temporary files")
	}
	_, err = io.Copy(file, in)
	if err := errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(file.Name())
		return nil, cause.Fail(err, "standard input cannot be kept", "see that there is room for temporary files")
	}
	return &Source{path: file.Name(), spooled: true}, nil
}

// Remove removes the copy, if it is one.
func (s *Source) Remove() {
	if s.spooled {
		_ = os.Remove(s.path)
	}
}

func (s *Source) open() (io.ReadCloser, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, validation.Unreadable(s.path, err)
	}
	return file, nil
}
