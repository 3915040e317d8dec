package external

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// defaultTime is how long a third-party service may take for a call if its definition does not
	// say.
	defaultTime = 5 * time.Minute
	// Attempts is how often the command of a repeatable call is sent, within that time.
	Attempts = 3
)

// cardOffered is the type of a third-party service's result card, before and after it is reported: the
// call's own tool.result is made from it.
const cardOffered = "tool.offered_result"

// Lease returns how long the lease of such a service is. A repeatable call is sent again within
// its time, because a command may be lost.
func Lease(t store.Tool) time.Duration {
	var o struct {
		Suspend float64 `json:"suspend_timeout_seconds"`
		Timeout float64 `json:"timeout_seconds"`
	}
	if raw := t.Definition.Options; len(raw) > 0 && json.Unmarshal(raw, &o) != nil {
		o.Suspend, o.Timeout = 0, 0
	}
	whole := defaultTime
	for _, given := range []float64{o.Timeout, o.Suspend} {
		if given >= 1 {
			whole = turn.Seconds(int(min(given, 1<<20)))
		}
	}
	if t.EffectiveClass().Repeatable() {
		return max(whole/Attempts, time.Second)
	}
	return whole
}

// CheckOffer refuses a result card that cannot be the result of a call that its service was sent. It returns the card as it
// is saved until it is reported.
func CheckOffer(c turn.Call, turnID string, card utp.Card, content utp.ResultCard) (utp.Card, error) {
	switch {
	case strings.HasPrefix(card.ID, AnswerPrefix):
		return card, api.NewFault(utp.CodeBadRequest, "card ids that begin with "+AnswerPrefix+" are the kernel's own")
	case content.FunctionName != c.Tool:
		return card, api.NewFault(utp.CodeBadRequest, "metadata.function_name is "+content.FunctionName+"; expected "+c.Tool)
	case content.Lineage.TurnID != "" && content.Lineage.TurnID != turnID:
		return card, api.NewFault(utp.CodeAuthFailed, "the card belongs to another turn")
	}
	return store.Retyped(card, cardOffered)
}

// OfferedAgain reports whether a card is the one that the service has saved before.
func OfferedAgain(tx store.CardReader, c turn.Call, card utp.Card) (bool, error) {
	kept, err := store.ReadCard(tx, c.Offered)
	return kept.ID == card.ID && bytes.Equal(kept.Content, card.Content) && bytes.Equal(kept.Metadata, card.Metadata), store.AsDamage(err)
}

// Offered reads the card that a third-party service has saved for its report. What follows the result is
// taken from the card, else from the report, else from the command (UTP, "Results").
func Offered(tx store.CardReader, c turn.Call, r utp.Report) (utp.ResultCard, error) {
	card, err := store.ReadCard(tx, c.Offered)
	if err != nil {
		return utp.ResultCard{}, store.AsDamage(err)
	}
	if card, err = store.Retyped(card, utp.CardToolResult); err != nil {
		return utp.ResultCard{}, err
	}
	content, err := utp.DecodeToolResult(card, r.AfterExecution, c.After)
	if err != nil {
		return content, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return content, nil
}

// ReadReport reads a third-party service's report: three keys, and the call in its headers.
func ReadReport(m utp.Message) (utp.Report, utp.Context, error) {
	header, err := utp.DecodeHeader(m.Header)
	if err != nil {
		return utp.Report{}, header, api.NewFault(CodeOf(err), err.Error())
	}
	r, header, err := utp.DecodeReport(m.Payload, header)
	if err != nil && r.ToolResultCardID == "" { // any other fault in it can be corrected from the card
		return r, header, api.NewFault(missingCard(err), err.Error())
	}
	if header.ToolCallID == "" {
		return r, header, api.NewFault(utp.CodeMissingToolCallID, "the report names no call")
	}
	return r, header, nil
}

func missingCard(err error) utp.Code {
	if p, is := errors.AsType[*utp.PayloadError](err); is && p.Field == "tool_result_card_id" {
		return utp.CodeMissingToolResultCard
	}
	return CodeOf(err)
}

// Brokered returns the definition of a third-party service's tool as it counts. It is broker-only,
// whatever it says. A class or risk that it leaves out stays empty: until an operator sets one, the tool
// counts as the worst.
func Brokered(d utp.Definition) (utp.Definition, error) {
	opts, err := utp.ParseOptions(d.Options)
	if err != nil {
		return d, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if len(opts.Envs) > 0 {
		return d, api.NewFault(utp.CodeBadRequest, "a third-party service is handed no secrets; it reads them where it runs, without options.envs")
	}
	if len(d.Options) == 0 || d.Options.Kind() == jsontext.KindNull {
		d.Options = jsontext.Value("{}")
	}
	d.Options, err = utp.SetMember(d.Options, "enforcement", jsontext.Value(`"`+utp.BrokerOnly+`"`))
	if err == nil {
		err = d.Validate()
	}
	if err != nil {
		return d, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return d, nil
}
