package cli

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

// AsFault returns the refusal in an error's chain, or nil.
func AsFault(err error) *api.Fault {
	fault, _ := errors.AsType[*api.Fault](err)
	return fault
}

// IsFault reports whether an error is a refusal with the code.
func IsFault(err error, code utp.Code) bool {
	fault := AsFault(err)
	return fault != nil && fault.Code == code
}

// Operated completes a command of an operator. Its shell completions come from a running server only: a completion does
// not lock the data directory.
func (m *Program) Operated(c *cobra.Command, do func(ctx context.Context, ask operate.Ask, f RemoteFlags, args []string) error, offer ...Completion) *cobra.Command {
	f := new(RemoteFlags)
	f.Add(c)
	if len(offer) > 0 {
		c.ValidArgsFunction = m.Completes(f, offer[0])
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := m.WithOperator(c.Context(), *f, func(ask operate.Ask) error { return absent(do(c.Context(), ask, *f, args), args) }); err != nil {
			return err
		}
		return m.OutputError()
	}
	return c
}

// absent names what a command was asked for, where that is not there.
func absent(err error, args []string) error {
	if _, told := errors.AsType[*cause.Error](err); told || len(args) != 1 || !Absent(err) {
		return err
	}
	return &cause.Error{Message: "there is nothing called " + cause.Quoted(args[0]), Hint: notThere, Err: err}
}

// notThere says where names and ids of the ledger stand.
const notThere = "see `earshot turns list`, `earshot tools list` or `earshot dead list`"

// WithOperator runs do with the server or, if none runs, with the ledger itself.
func (m *Program) WithOperator(ctx context.Context, f RemoteFlags, do func(operate.Ask) error) error {
	path := ""
	if !f.Server.Named() {
		var err error
		if path, err = m.DataPath(f.Server.DataFlag, f.Server.DataFlag != ""); err != nil {
			return err
		}
	}
	if path == "" || ServerAt(path) {
		remote, err := m.Dial(ctx, f.Server, "earshot-operator")
		if err != nil {
			return err
		}
		return OperatorError(do(remote.Operate))
	}
	if err := instance.InDatabase(&datadir.Dir{Path: path}, "start its server (`earshot up --ledger …`), and ask again: it works on that ledger"); err != nil {
		return err
	}
	if !datadir.Exists((&datadir.Dir{Path: path}).File(datadir.LedgerFile)) {
		return cause.Fail(nil, "there is no ledger in "+path, "name the data directory with --data DIR, or a server with --url")
	}
	h, err := m.Visit(ctx, path)
	if err != nil {
		return err
	}
	defer h.Close()
	return OperatorError(do(h.Ask))
}

// OperatorError converts a refusal, by the server or by the kernel in this process, to an error with a hint.
func OperatorError(err error) error {
	if said, is := errors.AsType[*cause.Error](err); is {
		return said // it has more details than the refusal in its chain
	}
	if Absent(err) {
		return cause.Fail(nil, "the ledger has nothing of that name", notThere)
	}
	fault, is := errors.AsType[*api.Fault](err)
	if told, there := errors.AsType[*client.Error](err); there && told.Code == client.Code(utp.CodeBadRequest) {
		fault, is = &api.Fault{Code: utp.CodeBadRequest, Message: told.Message}, true // it means the same in both places
	}
	if !is {
		return ServerFailure(err)
	}
	hint := ""
	kind := cause.Failed
	switch fault.Code { //nolint:exhaustive // the others say all in their words
	case utp.CodeStorageError:
		hint = "see `earshot doctor`"
	case utp.CodeBadRequest:
		kind, hint = cause.Usage, "see the command's --help"
	}
	return &cause.Error{Kind: kind, Message: fault.Message, Hint: hint, Err: err}
}

// Absent reports whether the ledger, here or at a server, contains nothing of the requested name.
func Absent(err error) bool {
	return rpc.Code(err, utp.CodeNotFound) || errors.Is(err, client.ErrNotFound)
}

// Rows writes a list page by page, as lines or as a JSON array, without keeping it in memory.
type Rows struct {
	m      *Program
	asJSON bool
	N      int
}

// NewRows begins a list: as lines, or as a JSON array.
func (m *Program) NewRows(asJSON bool) *Rows { return &Rows{m: m, asJSON: asJSON} }

// Add writes a row: the value as JSON, or the line.
func (r *Rows) Add(value any, line string) error {
	if !r.asJSON {
		r.N++
		r.m.Printf("%s", line)
		return nil
	}
	separator := "[\n  "
	if r.N > 0 {
		separator = ",\n  "
	}
	r.N++
	raw, err := json.Marshal(value, json.Deterministic(true))
	if err == nil {
		_, err = fmt.Fprint(r.m.Stdout, separator+string(raw))
	}
	if err != nil {
		return cause.Fail(err, "the list could not be written", "")
	}
	return nil
}

// End closes the list; without rows it writes none.
func (r *Rows) End(none string) {
	switch {
	case r.asJSON && r.N == 0:
		_, err := fmt.Fprintln(r.m.Stdout, "[]")
		r.m.printError(err)
	case r.asJSON:
		_, err := fmt.Fprint(r.m.Stdout, "\n]\n")
		r.m.printError(err)
	case r.N == 0:
		r.m.Printf("%s", none)
	}
}

// field writes one labelled line; an empty value is left out.
func (m *Program) field(label, value string) {
	if value != "" {
		m.Printf("%s: %s", label, legible.Line(value))
	}
}

// document writes JSON from others, each value on its own line, so that nothing in it can control the terminal.
func (m *Program) document(label string, value jsontext.Value) {
	if len(value) == 0 {
		return
	}
	m.Printf("%s:", label)
	for _, item := range terminal.Values(value) {
		m.Printf("  %s: %s", legible.Line(cmp.Or(strings.TrimPrefix(item.Note, "/"), "value")), legible.Value(cause.OneLine(item.Value)))
	}
}

func (m *Program) since(label string, at time.Time) {
	if !at.IsZero() {
		m.field(label, m.TimeText(at))
	}
}

// Parent returns a command that only has subcommands.
func Parent(use, short, long string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Args: usage.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(below...)
	return c
}
