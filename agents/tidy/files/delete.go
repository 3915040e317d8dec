package files

import (
	"context"
	"strconv"
)

// Set is one group of equal files: the survivor, and those that go.
type Set struct {
	SHA256   string   `json:"sha256"` // of each of them, lower-case hexadecimal
	Size     int64    `json:"size"`   // of each of them, bytes; more than 0
	Survivor string   `json:"keep"`   // the survivor; on no list of the call
	Delete   []string `json:"delete"`
}

// DeleteArgs is the whole list of a removal, by [Service.Delete] or [Service.Trash].
type DeleteArgs struct {
	Root string `json:"root"`
	Sets []Set  `json:"sets"`
}

// DeleteResult is the outcome for each path: each one is counted in Deleted or NotReached, or is in one of the lists.
type DeleteResult struct {
	// Deleted counts the deleted files; for a trash, those that were moved to it.
	Deleted int `json:"deleted"`
	// Bytes is how much space was freed: a file that still has another name frees none. For a trash, the bytes that
	// were moved.
	Bytes   int64     `json:"bytes"`
	Refused []Refusal `json:"refused"`
	// Unclear are files for which it cannot be determined whether this call removed them. After a crash, it also
	// contains files that are left in the private folder and belong to no path of the list, by where they are.
	Unclear []string `json:"unclear"`
	// NotReached counts the files that were skipped because the call ended early.
	NotReached int `json:"not_reached"`
	// Rest is where these are among all paths of the list, in its order.
	Rest []Span `json:"rest,omitzero"`
}

// Span is a range of positions, counted from 0; To is exclusive.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// CallOptions are the options of one removal.
type CallOptions struct {
	// Call is the id of the tool call, by which the journal and the private folder are named. Letters, digits, dot,
	// dash, underscore; at most 128.
	Call string
	// Before is called once, right before the first effect; its error ends the call with nothing done. May be nil.
	Before func() error
	// Reached is called with "delete.middle", right after a removal in the middle of the list, and with "delete.done",
	// after the last one ("trash.…" for a trash). May be nil.
	Reached func(point string)
	// Progress is called with the work done, in bytes: each file is read twice. May be nil.
	Progress func(done, total int64)
}

// Delete removes the listed files one by one, in order, as the package comment describes; refusals are in the result.
// The error, if any, is an *[Error]; the result beside it says exactly what was done before. When the context ends, the
// current removal is finished, or its file restored, and the code is stopped.
func (s *Service) Delete(ctx context.Context, args DeleteArgs, options CallOptions) (DeleteResult, error) {
	return s.remove(ctx, "delete", args, options)
}

// Trash is [Service.Delete] into the desktop's trash, on the same file system and never by copying: the user's own trash,
// else the one of the mounted disk (freedesktop.org trash specification 1.0). Code no_trash when there is none.
func (s *Service) Trash(ctx context.Context, args DeleteArgs, options CallOptions) (DeleteResult, error) {
	return s.remove(ctx, "trash", args, options)
}

func (s *Service) remove(ctx context.Context, op string, args DeleteArgs, options CallOptions) (DeleteResult, error) {
	r, err := s.newRun(op, args, options)
	if err != nil {
		return emptyResult(args), err
	}
	defer r.close()
	err = r.all(ctx)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		r.abandon()
	}
	for i := r.resolved; i < len(r.items); i++ {
		r.result.leave(i)
	}
	if err != nil {
		return r.result, r.explain(err)
	}
	r.reached(op + ".done")
	return r.result, nil
}

func emptyResult(args DeleteArgs) DeleteResult {
	r := DeleteResult{Refused: []Refusal{}, Unclear: []string{}}
	for i := range itemsOf(args) {
		r.leave(i)
	}
	return r
}

// explain adds to an error whether a retry is safe and how far the call came.
func (r *run) explain(err error) error {
	failure := &Error{}
	if !asError(err, &failure) {
		failure = &Error{Code: ErrBroken, Found: "the removal was stopped", Err: err}
	}
	failure.Effect = r.touched
	if failure.Effect && failure.Hint == "" {
		failure.Hint = strconv.Itoa(r.resolved) + " of " + strconv.Itoa(len(r.items)) + " files were handled before; the rest is untouched"
	}
	return failure
}

// item is one path of one set.
type item struct {
	path string
	set  *Set
}

func itemsOf(args DeleteArgs) []item {
	count := 0
	for i := range args.Sets {
		count += len(args.Sets[i].Delete)
	}
	items := make([]item, 0, count)
	for i := range args.Sets {
		for _, file := range args.Sets[i].Delete {
			items = append(items, item{file, &args.Sets[i]})
		}
	}
	return items
}

// leave counts an item that was not reached. Items are counted in their order.
func (d *DeleteResult) leave(i int) {
	d.NotReached++
	if last := len(d.Rest) - 1; last >= 0 && d.Rest[last].To == i {
		d.Rest[last].To++
		return
	}
	d.Rest = append(d.Rest, Span{i, i + 1})
}

// record settles one item in the result.
func (d *DeleteResult) record(i int, path string, e entry) {
	switch e.Code {
	case "":
		d.Deleted++
		d.Bytes += e.Bytes
	case codeNotReached:
		d.leave(i)
	case codeUnclear:
		d.Unclear = append(d.Unclear, path)
	default:
		d.Refused = append(d.Refused, Refusal{Path: path, Code: e.Code, Remains: e.Kept})
	}
}
