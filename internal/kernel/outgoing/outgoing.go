// Package outgoing makes the messages of one turn within one transaction: the commands of its calls, notices beside them,
// and wakeups. They are saved with the transaction, and leave in their order once it is committed.
package outgoing

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/outbox"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Tx is the messages of one turn within one transaction. Make it with [In]. It is for one goroutine.
type Tx struct {
	of   *turn.State
	now  turn.Timestamp
	ids  *ids.Source
	rows []store.Outgoing
}

// In returns the messages of a turn within a transaction that takes place at a time.
func In(now turn.Timestamp, of *turn.State, names *ids.Source) *Tx {
	return &Tx{of: of, now: now, ids: names}
}

// Rows are the messages that are to be saved with the transaction.
func (t *Tx) Rows() []store.Outgoing { return t.rows }

// Command adds the command of a call.
func (t *Tx) Command(c turn.Call, subject utp.Subject) error {
	payload, err := utp.EncodeCommand(utp.Command{
		ToolName: c.Tool, AfterExecution: cmp.Or(c.After, utp.Suspend), ToolCallCardID: c.Card,
	})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return t.about(c, subject, payload)
}

// Start adds the command of a call that is its start, as for a third-party service. It is not sent later than the call may
// start, and one that cannot be repeated is sent once: an old one must not be found and sent days later.
func (t *Tx) Start(c turn.Call, subject utp.Subject) error {
	if err := t.Command(c, subject); err != nil {
		return err
	}
	last := c.StartBy.Earlier(t.of.Deadline, t.now)
	if c.Class.Repeatable() {
		last = c.Lease
	}
	raw, err := json.Marshal(last, jsonv1.FormatDurationAsNano(true))
	if err != nil {
		return store.Unexpected("a moment", err)
	}
	header := t.rows[len(t.rows)-1].Header
	header[outbox.NotAfter] = []string{string(raw)}
	if !c.Class.Repeatable() {
		header[outbox.Once] = []string{"true"}
	}
	if c.Class == utp.Irreversible && c.Consent != nil {
		header[outbox.ConsentGeneration] = []string{c.Consent.Generation}
	}
	return nil
}

// Notice adds a message to the call's service beside its commands, such as a request for the outcome. A third-party service
// gets none: it would read it as a command, and a failed one.
func (t *Tx) Notice(c turn.Call, suffix string) error {
	if c.ThirdParty {
		return nil
	}
	subject, err := utp.ToolCommand(t.of.Project, t.of.Channel, c.Target, suffix)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return t.about(c, subject, []byte("{}"))
}

// Cancel adds the request to the call's service to stop it. A third-party service does not know such a message, and gets none.
func (t *Tx) Cancel(c turn.Call) error {
	if c.ThirdParty {
		return nil
	}
	subject, err := utp.ToolEvent(t.of.Project, t.of.Channel, c.Target, utp.SuffixCancel)
	if err != nil {
		return store.Unexpected("the subject of a notice", err)
	}
	notice := utp.ToolCancel{Call: c.ID, Turn: t.of.Turn}
	if t.of.Stop != nil {
		notice.Reason = t.of.Stop.Reason
	}
	payload, err := json.Marshal(notice)
	if err != nil {
		return store.Unexpected("a notice", err)
	}
	return t.about(c, subject, payload)
}

// Wakeup adds a wakeup of the turn's worker, for one that may not poll.
func (t *Tx) Wakeup() error {
	span, err := t.span()
	if err != nil {
		return err
	}
	control := t.of.Context(span)
	subject, err := utp.Wakeup(control.ProjectID, control.ChannelID, control.AgentID)
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	header, err := utp.EncodeWakeup(control, utp.Stamp{At: t.now.Wall})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	t.add(subject, header, []byte("{}"), "")
	return nil
}

// about adds a message about a call.
func (t *Tx) about(c turn.Call, subject utp.Subject, payload []byte) error {
	span, err := t.span()
	if err != nil {
		return err
	}
	header, err := utp.EncodeHeader(t.of.ContextOf(c, span), utp.Stamp{At: t.now.Wall})
	if err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	t.add(subject, header, payload, c.ID)
	return nil
}

func (t *Tx) add(subject utp.Subject, header map[string][]string, payload []byte, call string) {
	t.rows = append(t.rows, store.Outgoing{Session: t.of.Session, Subject: subject.String(), Header: header, Payload: payload, Call: call})
}

// span returns a new span, for one message.
func (t *Tx) span() (string, error) {
	id, err := t.ids.ID(t.now.Wall)
	if err != nil {
		return "", err
	}
	return id[16:], nil
}
