package subscribe

import (
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// admit decides whether a message may be delivered where only a signed manifest will do (CAP-13, SEC-12): an answer whose manifest holds, and after
// it everything else.
func (t *stream) admit(kind string, raw []byte) error {
	switch {
	case t.o.Keys == nil, kind == aaep.TypeSubscriptionRejected:
		return nil
	case kind != aaep.TypeSubscriptionAccepted:
		if t.trusted {
			return nil
		}
		return t.untrusted("it sends something before its signed manifest", nil)
	}
	t.trusted = false
	answer, err := aaep.DecodeSubscriptionAccepted(raw)
	if err != nil {
		return t.untrusted("its answer cannot be read: "+plain(err), err)
	}
	if answer.SignedManifest == "" {
		return t.untrusted("it sends no signed manifest", nil)
	}
	_, err = manifest.Expected{
		Keys: t.o.Keys, Now: t.o.Now(), AgentID: answer.Producer.AgentID, Offer: manifest.OfferOf(answer, t.transport),
	}.Verify(answer.SignedManifest)
	if e, is := errors.AsType[*manifest.Error](err); is {
		return t.untrusted("its manifest does not hold: "+e.Plain(), err)
	}
	t.trusted = err == nil
	return err
}

func (t *stream) untrusted(why string, err error) error {
	return &Error{
		Code: CodeUntrusted, Message: fmt.Sprintf("%s cannot be trusted: %s", t.host, why), Err: err,
		Hint: "check the address, and whether its maker has changed the keys",
	}
}

// transport is by which transport a producer is heard there.
func (t target) transport() aaep.Transport {
	switch scheme := t.url.Scheme; {
	case scheme == unixScheme && pipe.IsNamed(t.url.Host):
		return aaep.TransportPipe
	case scheme == unixScheme:
		return aaep.TransportUnix
	case strings.HasPrefix(scheme, "grpc"):
		return aaep.TransportGRPC
	case strings.HasPrefix(scheme, "ws"):
		return aaep.TransportWebSocket
	default:
		return aaep.TransportSSE
	}
}
