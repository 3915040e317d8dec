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

// inspectTimeout is how long an operator who inspects an unreadable ledger waits for the error.
const inspectTimeout = 2 * time.Second

// Operate forwards an operator's request unchanged, and returns the answer. Reading takes an auditor or an operator.
// Changing something takes an operator who may also approve: only a person may change what the gate relies on, and a
// program that found an operator's token is not enough. A retry is always for the principal itself.
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

// maskedExport masks, in a part of an export, the reply tokens of questions that the principal may not answer.
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

// signed sets the authenticated name in a request, whatever the request contains.
func signed(op string, request jsontext.Value, name string) (jsontext.Value, error) {
	switch op {
	case api.OpRetry:
		return owned(request, name)
	case api.OpReview, api.OpRemove, api.OpErase, api.OpImport, api.OpRevokePasskey, api.OpDefineAgent, api.OpRemoveAgent:
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

// owned sets the owner of a retry.
func owned(request jsontext.Value, name string) (jsontext.Value, error) {
	var q api.RetryRequest
	if err := json.Unmarshal(request, &q, json.RejectUnknownMembers(true)); err != nil {
		return nil, unreadable(err)
	}
	q.Owner = name
	raw, err := json.Marshal(q)
	return raw, err //nolint:wrapcheck // numbers and texts can always be written
}
