package tidy

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// Target is the name of the tool service that serves the tools of this agent.
const Target = "files"

//go:embed definitions/*.json
var definitions embed.FS

// Definitions are the tools as they ship: what an operator reviews.
func Definitions() ([]utp.Definition, error) {
	var all []utp.Definition
	for _, name := range []string{ToolScan, ToolHash, ToolDelete, ToolTrash} {
		raw, err := definitions.ReadFile("definitions/" + name + ".json")
		if err != nil {
			return nil, fmt.Errorf("tidy: %w", err)
		}
		var d utp.Definition
		if err := json.Unmarshal(raw, &d, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("tidy: definition of %s: %w", name, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// Tools binds the operations of a files service to their definitions. Reached hears of
// the fault points; it may be nil.
func Tools(s *files.Service, reached func(point string)) ([]tool.Tool, error) {
	all, err := Definitions()
	if err != nil {
		return nil, err
	}
	b := binding{files: s, reached: reached}
	out := make([]tool.Tool, 0, len(all))
	for _, d := range all {
		t, err := b.bind(d)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

type binding struct {
	files   *files.Service
	reached func(point string)
}

// bind is the tool of a definition.
func (b binding) bind(d utp.Definition) (tool.Tool, error) {
	switch d.Tool {
	case ToolScan:
		return tool.Func(d, b.scan)
	case ToolHash:
		return tool.Func(d, b.hash)
	}
	remove := b.files.Delete
	if d.Tool == ToolTrash {
		remove = b.files.Trash
	}
	t, err := tool.Func(d, b.remove(remove))
	if err != nil {
		return t, err
	}
	return tool.Reconciled(t, b.reconcile)
}

func (b binding) scan(ctx context.Context, _ *tool.Call, args files.ScanArgs) (tool.Result, error) {
	page, err := b.files.Scan(ctx, args)
	return result(page, err)
}

func (b binding) hash(ctx context.Context, c *tool.Call, args files.HashArgs) (tool.Result, error) {
	hashes, err := b.files.Hash(ctx, args, progress(c))
	return result(hashes, err)
}

type removal func(context.Context, files.DeleteArgs, files.CallOptions) (files.DeleteResult, error)

func (b binding) remove(remove removal) func(context.Context, *tool.Call, files.DeleteArgs) (tool.Result, error) {
	return func(ctx context.Context, c *tool.Call, args files.DeleteArgs) (tool.Result, error) {
		done, err := remove(ctx, args, files.CallOptions{
			Call: c.ID, Before: c.Ready, Reached: b.reached, Progress: progress(c),
		})
		if err != nil {
			return tool.Result{Value: done, Status: cutShort(done, err)}, toolError(err)
		}
		return tool.Result{Value: done, Status: whole(done)}, nil
	}
}

// whole is a success only if every file on the list is gone.
func whole(r files.DeleteResult) utp.Status {
	if len(r.Refused)+len(r.Unclear)+r.NotReached > 0 {
		return utp.StatusPartial
	}
	return utp.StatusSuccess
}

// cutShort is the status of a removal that ended with an error: what was done before
// it is part of the result. One that was stopped tells exactly that, be it nothing.
func cutShort(r files.DeleteResult, err error) utp.Status {
	failure, is := errors.AsType[*files.Error](err)
	if r.Deleted+len(r.Unclear) > 0 || is && failure.Code == files.ErrStopped {
		return utp.StatusPartial
	}
	return utp.StatusFailed
}

func (b binding) reconcile(ctx context.Context, c *tool.Call, args files.DeleteArgs) (tool.Outcome, tool.Result, error) {
	outcome, done, err := b.files.Reconcile(ctx, c.ID, args)
	switch outcome {
	case files.NotBegun:
		return tool.NotBegun, tool.Result{}, err
	case files.Done:
		return tool.Done, tool.Result{Value: done, Status: whole(done)}, err
	case files.Unknown:
		return tool.Unknown, tool.Result{Value: done}, err // it names what lies in the private folder
	default:
		return tool.Unknown, tool.Result{}, err
	}
}

func progress(c *tool.Call) func(done, total int64) {
	return func(done, total int64) {
		if total > 0 {
			c.Progress(float64(done) / float64(total))
		}
	}
}

func result(value any, err error) (tool.Result, error) {
	if err != nil {
		return tool.Result{}, toolError(err)
	}
	return tool.Result{Value: value}, nil
}

// toolError gives a failure of the service a code of the protocol; the service's own
// code stands in its words.
func toolError(err error) error {
	if known, is := errors.AsType[*utp.ToolError](err); is {
		return known
	}
	failure, is := errors.AsType[*files.Error](err)
	if !is {
		return err
	}
	code := utp.CodeInternalError
	switch failure.Code {
	case files.ErrBadArgs, files.ErrRootNotFolder:
		code = utp.CodeBadRequest
	case files.ErrRootMissing:
		code = utp.CodeNotFound
	case files.ErrEscapesRoot, files.ErrRootUnreadable:
		code = utp.CodeAuthFailed
	case files.ErrSecondStart, files.ErrBusy:
		code = utp.CodeConflict
	case files.ErrTooLate:
		code = utp.CodeConsentStale
	case files.ErrStopped:
		code = utp.CodeStopped
	case files.ErrJournal, files.ErrPrivateFolder, files.ErrTrash, files.ErrBroken, files.ErrUnsupported:
		code = utp.CodeUpstreamUnavailable
	}
	out := &utp.ToolError{Code: code, Message: failure.Plain(), Retryable: failure.SafeToRetry()}
	if failure.Effect {
		return out
	}
	return out.Untouched()
}
