package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/utp"
)

// operated makes a command of an operator. What a shell is offered for its arguments comes from
// a server that runs: the data directory is not held for that.
func (m *Main) operated(c *cobra.Command, do func(ctx context.Context, ask operate.Ask, f remoteFlags, args []string) error, offer ...completion) *cobra.Command {
	f := new(remoteFlags)
	f.add(c)
	if len(offer) > 0 {
		c.ValidArgsFunction = m.completes(f, offer[0])
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := m.withOperator(c.Context(), *f, func(ask operate.Ask) error { return do(c.Context(), ask, *f, args) }); err != nil {
			return err
		}
		return m.outputError()
	}
	return c
}

// withOperator runs do with the server, or with the ledger itself.
func (m *Main) withOperator(ctx context.Context, f remoteFlags, do func(operate.Ask) error) error {
	path := ""
	if !f.server.given() {
		var err error
		if path, err = m.dataPath(f.server.dataFlag, f.server.dataFlag != ""); err != nil {
			return err
		}
	}
	if path == "" || serverAt(path) {
		remote, err := m.dial(ctx, f.server, "earshot-operator")
		if err != nil {
			return err
		}
		return operatorError(do(remote.Operate))
	}
	if err := instance.InDatabase(&datadir.Dir{Path: path}, "start its server (`earshot up --ledger …`), and ask again: it works on that ledger"); err != nil {
		return err
	}
	if !datadir.Exists((&datadir.Dir{Path: path}).File(datadir.LedgerFile)) {
		return cause.Fail(nil, "there is no ledger in "+path, "name the data directory with --data DIR, or a server with --url")
	}
	h, err := m.visit(ctx, path)
	if err != nil {
		return err
	}
	defer h.Close()
	return operatorError(do(h.Ask))
}

// operatorError is a refusal in words with a hint, from the server or from the kernel here.
func operatorError(err error) error {
	if said, is := errors.AsType[*cause.Error](err); is {
		return said // it knows more than the refusal that it is made of
	}
	if absent(err) {
		return cause.Fail(nil, "the ledger has nothing of that name", "see `earshot turns list`, `earshot tools list` or `earshot dead list`")
	}
	fault, is := errors.AsType[*api.Fault](err)
	if told, there := errors.AsType[*client.Error](err); there && told.Code == client.Code(utp.CodeBadRequest) {
		fault, is = &api.Fault{Code: utp.CodeBadRequest, Message: told.Message}, true // it means the same there as here
	}
	if !is {
		return serverFailure(err)
	}
	hint := ""
	kind := cause.Failed
	switch fault.Code { //nolint:exhaustive // the others say all in their words
	case utp.CodeStorageError:
		hint = "see `earshot doctor`"
	case utp.CodeBadRequest:
		kind, hint = cause.Usage, "see the command's --help"
	case utp.CodeConflict:
		hint = "look at it again"
	}
	return &cause.Error{Kind: kind, Message: fault.Message, Hint: hint, Err: err}
}

// absent reports whether the ledger, here or at a server, has nothing of the name that it was
// asked for.
func absent(err error) bool {
	return rpc.Code(err, utp.CodeNotFound) || errors.Is(err, client.ErrNotFound)
}

// rows writes a list as it comes, page by page: as lines, or as a JSON array. What has been
// written is not kept.
type rows struct {
	m      *Main
	asJSON bool
	n      int
}

// newRows begins a list: as lines, or as a JSON array.
func (m *Main) newRows(asJSON bool) *rows { return &rows{m: m, asJSON: asJSON} }

// add writes a row: the value as JSON, or the line.
func (r *rows) add(value any, line string) error {
	if !r.asJSON {
		r.n++
		r.m.sayf("%s", line)
		return nil
	}
	separator := "[\n  "
	if r.n > 0 {
		separator = ",\n  "
	}
	r.n++
	raw, err := json.Marshal(value, json.Deterministic(true))
	if err == nil {
		_, err = fmt.Fprint(r.m.Stdout, separator+string(raw))
	}
	if err != nil {
		return cause.Fail(err, "the list could not be written", "")
	}
	return nil
}

// end closes the list; none is said of an empty one.
func (r *rows) end(none string) {
	switch {
	case r.asJSON && r.n == 0:
		_, err := fmt.Fprintln(r.m.Stdout, "[]")
		r.m.printError(err)
	case r.asJSON:
		_, err := fmt.Fprint(r.m.Stdout, "\n]\n")
		r.m.printError(err)
	case r.n == 0:
		r.m.sayf("%s", none)
	}
}

// field writes one labelled line; an empty value is left out.
func (m *Main) field(label, value string) {
	if value != "" {
		m.sayf("%s: %s", label, legible.Line(value))
	}
}

// document writes JSON that others have written, each value on its line, so that nothing in
// it can act on the terminal.
func (m *Main) document(label string, value jsontext.Value) {
	if len(value) == 0 {
		return
	}
	m.sayf("%s:", label)
	for _, item := range terminal.Values(value) {
		m.sayf("  %s: %s", legible.Line(cmp.Or(strings.TrimPrefix(item.Note, "/"), "value")), legible.Value(cause.OneLine(item.Value)))
	}
}

func (m *Main) since(label string, at time.Time) {
	if !at.IsZero() {
		m.field(label, m.timeText(at))
	}
}

// parent makes a command that only has others below it.
func parent(use, short, long string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: usage.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(below...)
	return c
}
