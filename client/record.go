package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"iter"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/internal/cause"
)

const defaultRecordTimeout = 30 * time.Second

// RecordOptions name the stream to record and the credentials. URL is required.
type RecordOptions struct {
	// URL of a stream: http or https for server-sent events, ws or wss for a WebSocket, unix:PATH for a Unix socket. An http address with
	// a path is the stream itself. Without a path it is a server that requires a subscription first (Appendix B).
	URL string
	// Token goes into the Authorization header, if it is set, and over a Unix socket into earshot:authenticate. Without TLS it is sent to
	// loopback addresses only.
	Token string
	// TokenFile contains the token on its first line, instead of Token.
	TokenFile string
	// Name is the name of this listener if it subscribes; default "earshot".
	Name string
	// ReconnectTimeout is how long to retry a lost connection; default 30 seconds.
	ReconnectTimeout time.Duration
	// OnConnection is called once when the connection is lost and once when it is back.
	OnConnection func(Connection)
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Transport makes the requests; default a new transport with the environment's proxy.
	Transport http.RoundTripper
}

// RawMessage is one message of a stream, as it was received.
type RawMessage = subscribe.Message

// Record receives everything that a producer sends, of any session, including questions. It validates and answers
// nothing. If it has to subscribe, the producer's answer is the first message.
//
// A lost stream of server-sent events resumes after its last event; a WebSocket and a Unix socket do where the producer can. A repeated
// message is yielded once. Where messages may be missing after a lost connection, Record yields an [*Error] with [CodeLost] and
// continues. The sequence ends without an error if the producer ends it (status 204, close code 4000), otherwise with
// an [*Error] or the context's error.
func Record(ctx context.Context, o RecordOptions) iter.Seq2[RawMessage, error] {
	return func(yield func(RawMessage, error) bool) {
		s, err := recording(o)
		if err != nil {
			yield(RawMessage{}, failure(err))

			return
		}

		for m, err := range s.Messages(ctx) {
			if !yield(m, failure(err)) {
				return
			}
		}
	}
}

// recording returns a subscription to all events, including questions, without the right to answer.
func recording(o RecordOptions) (*subscribe.Subscription, error) {
	token, err := tokenOf(o)
	if err != nil {
		return nil, err
	}

	name := cmp.Or(o.Name, "earshot")
	no := false

	return subscribe.New(subscribe.Options{
		URL: o.URL, Token: token, Verbatim: true, Now: o.Now, Transport: o.Transport,
		ReconnectTimeout: cmp.Or(o.ReconnectTimeout, defaultRecordTimeout), OnConnection: reporting(o.OnConnection),
		Request: aaep.SubscriptionRequest{
			SubscriberID: name + "-" + rand.Text(), SubscriberName: name,
			Capabilities: aaep.Capabilities{
				SupportsConfirmationReply: &no, SupportsClarificationReply: &no,
				EventFilters: &aaep.EventFilters{Include: []string{"*"}}, SupportedExtensions: []string{aaep.ExtensionContext},
				Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(`{"observe_questions":true}`)},
			},
		},
	})
}

func tokenOf(o RecordOptions) (string, error) {
	if o.TokenFile == "" {
		return o.Token, nil
	}

	raw, err := os.ReadFile(o.TokenFile)
	if err != nil {
		return "", &Error{Code: CodeUsage, Message: "the token cannot be read: " + cause.Of(err), Hint: "check the name of the file and its rights", Err: err}
	}

	first, _, _ := strings.Cut(string(raw), "\n")

	return strings.TrimSpace(first), nil
}
