package hub

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// rightFor returns the right that an operation needs.
func rightFor(op string) api.Right {
	o, _ := api.OperationNamed(op)
	return o.Right
}

// inspectTimeout is how long somebody who looks at what cannot be read waits to be told so.
const inspectTimeout = 2 * time.Second

// Operate passes an operation of operators on, as it came, and its answer back. To look takes
// an auditor or an operator. To change something takes an operator who may also approve: what
// the gate relies on is for a person to change, and a program that found the way in by itself
// is an operator without that. A retry is for the principal itself.
func (p *Person) Operate(ctx context.Context, op string, request jsontext.Value) (jsontext.Value, error) {
	who, err := p.hub.current(p.who)
	if err != nil {
		return nil, err
	}
	switch rightFor(op) {
	case api.Nobody, api.Anyone, api.Listen, api.Answer, api.Stop, api.Start, api.Act:
		return nil, &Error{Code: CodeNotFound, Message: "operators have no operation of that name"}
	case api.Inspect:
		if !who.May(api.Inspect) {
			return nil, notAllowed("only an auditor or an operator sees this", "use a token with one of these roles")
		}
	case api.Operate:
		if !who.May(api.Operate) {
			return nil, notAllowed("only an operator who is also an approver changes this", "use a token with the roles operator and approver, or the command on the machine itself")
		}
	}
	if request, err = signed(op, request, who.Name); err != nil {
		return nil, err
	}
	var answer jsontext.Value
	if rightFor(op) == api.Inspect {
		err = rpc.AskWithin(ctx, p.hub.o.Conn, inspectTimeout, op, request, &answer)
	} else {
		err = rpc.Ask(ctx, p.hub.o.Conn, op, request, &answer)
	}
	if err == nil && op == api.OpExport {
		return maskedExport(who, answer)
	}
	return answer, err
}

// maskedExport is a part of an export for somebody: without the reply tokens of questions that they may
// not answer.
func maskedExport(who access.Principal, answer jsontext.Value) (jsontext.Value, error) {
	var part api.ExportAnswer
	if err := json.Unmarshal(answer, &part); err != nil {
		return nil, fmt.Errorf("hub: the kernel's export cannot be read: %w", err)
	}
	if who.Approves(part.Owner) {
		return answer, nil
	}
	for i, raw := range part.Records {
		if !bytes.Contains(raw, []byte(replyToken)) {
			continue
		}
		var record api.Exported
		if err := json.Unmarshal(raw, &record); err != nil || record.Event == nil {
			continue
		}
		record.Event.Body = masked(record.Event.Body)
		var err error
		if part.Records[i], err = json.Marshal(record, jsontext.PreserveRawStrings(true)); err != nil {
			return nil, err //nolint:wrapcheck // it was read as such
		}
	}
	raw, err := json.Marshal(part, jsontext.PreserveRawStrings(true))
	return raw, err //nolint:wrapcheck // it was read as such
}

// signed is a request in the name of who is known to ask, whatever it says itself.
func signed(op string, request jsontext.Value, name string) (jsontext.Value, error) {
	switch op {
	case api.OpRetry:
		return owned(request, name)
	case api.OpReview, api.OpRemove, api.OpErase, api.OpImport:
		by, err := json.Marshal(name)
		if err == nil {
			request, err = utp.SetMember(request, "by", by)
		}
		if err != nil {
			return nil, unreadable(err)
		}
	}
	return request, nil
}

func unreadable(err error) error {
	return &Error{Code: CodeMalformed, Message: "the request cannot be read: " + cause.Of(err), Hint: "correct it", Err: err}
}

// owned is a retry for its owner.
func owned(request jsontext.Value, name string) (jsontext.Value, error) {
	var q api.RetryRequest
	if err := json.Unmarshal(request, &q, json.RejectUnknownMembers(true)); err != nil {
		return nil, unreadable(err)
	}
	q.Owner = name
	raw, err := json.Marshal(q)
	return raw, err //nolint:wrapcheck // numbers and texts can always be written
}
