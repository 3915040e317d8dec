// Package recording makes recordings of what AAEP producers send, and plays them to listeners.
package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
)

// RecordOptions say what is recorded, and where to.
type RecordOptions struct {
	// URL is the address of a stream, or of a producer that wants to be subscribed to; TokenFile holds the token for it.
	URL, TokenFile string
	// To gets each message on a line, as soon as it is there.
	To     io.Writer
	Events int64         // ends after so many messages; 0 does not
	Length time.Duration // ends after so long; 0 does not
	// ReconnectTimeout is how long a lost connection is tried for again.
	ReconnectTimeout time.Duration
	Quiet            bool // says nothing of the connection
	Notice           func(string)
	Now              func() time.Time
}

// errEnough ends a recording that has what it was asked for.
var errEnough = errors.New("enough")

// Record records until the producer says that there is no more, until ctx ends, or until there is enough. It fails where
// messages may be missing.
func Record(ctx context.Context, o RecordOptions) error {
	if o.Length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Length, errEnough)
		defer cancel()
	}
	r := &recorder{o: o}
	for message, err := range client.Record(ctx, r.options()) {
		more, err := r.record(ctx, message, err)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return r.end()
}

// recorder is one recording: messages in, lines out.
type recorder struct {
	o        RecordOptions
	received int64
	away     error // why there is no connection at present
	lost     error // why messages may be missing
}

func (r *recorder) options() client.RecordOptions {
	return client.RecordOptions{
		URL: r.o.URL, TokenFile: r.o.TokenFile, Name: "earshot-capture", ReconnectTimeout: r.o.ReconnectTimeout, Now: r.o.Now,
		OnConnection: func(c client.Connection) {
			r.away = c.Lost
			switch {
			case r.o.Quiet:
			case c.Lost != nil:
				r.o.Notice("There is no connection: " + cause.OneLine(connectionLost(c.Lost)) + ". Trying again.")
			default:
				r.o.Notice("There is a connection.")
			}
		},
	}
}

// record records one message, or what stands in its place. More says that there may be
// others.
func (r *recorder) record(ctx context.Context, message client.RawMessage, err error) (more bool, _ error) {
	switch {
	case errors.Is(err, &client.Error{Code: client.CodeLost}):
		r.lost = err
		if !r.o.Quiet {
			r.o.Notice(fmt.Sprintf("Messages may be missing before message %d of this recording.", r.received+1))
		}
		return true, nil
	case ctx.Err() != nil:
		return false, nil //nolint:nilerr // interrupted, which is how it ends
	case err != nil:
		if r.received > 0 {
			r.count()
		}
		return false, captureFailure(err)
	}
	if err := capture.Write(r.o.To, message.Raw); err != nil {
		return false, cause.Fail(err, "the recording could not be written", "see that there is room")
	}
	r.received++
	return r.received != r.o.Events, nil
}

// end says how much there is, and whether anything may be missing.
func (r *recorder) end() error {
	r.count()
	switch {
	case r.lost != nil:
		return captureFailure(r.lost)
	case r.away != nil:
		return cause.Fail(nil, "messages may be missing: there was no connection at the end: "+connectionLost(r.away), "see that the producer runs, and record again")
	default:
		return nil
	}
}

// count says how much there is.
func (r *recorder) count() {
	if !r.o.Quiet {
		r.o.Notice(legible.Counted(r.received, "message") + " recorded.")
	}
}

// connectionLost is why, without what to do.
func connectionLost(err error) string {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e.Message
	}
	return "the stream has ended"
}

func captureFailure(err error) error {
	var e *client.Error
	if !errors.As(err, &e) {
		return cause.Fail(err, "the stream has ended", "see that the producer still runs")
	}
	f := cause.Fail(nil, e.Message, e.Hint)
	if e.Code == client.CodeUsage || e.Code == client.CodeInsecure {
		f.Kind = cause.Usage
	}
	return f
}
