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

// DeleteArgs is the whole list of one removal, by [Service.Delete] or [Service.Trash].
type DeleteArgs struct {
	Root string `json:"root"`
	Sets []Set  `json:"sets"`
}

// DeleteResult says what became of each path: each one is counted in Deleted or NotReached, or is in one of the lists.
type DeleteResult struct {
	// Deleted counts the files that are gone; for a trash, those that lie in it.
	Deleted int `json:"deleted"`
	// Bytes that this set free: a file that still has another name frees none. For a trash, the bytes that were moved.
	Bytes   int64     `json:"bytes"`
	Refused []Refusal `json:"refused"`
	// Unclear are files of which it cannot be shown whether this call removed them. After a crash, files that are left in
	// the private folder and belong to no path of the list are named here too, by where they lie.
	Unclear []string `json:"unclear"`
	// NotReached counts the files that the call was not to touch any more when it ended early.
	NotReached int `json:"not_reached"`
	// Rest is where these stand among all paths of the list, in its order.
	Rest []Span `json:"rest,omitzero"`
}

// Span is a stretch of positions, counted from 0; To is the one behind the last.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// CallOptions go with one removal.
type CallOptions struct {
	// Call is the tool call's id; it names the journal and the private folder. Letters, digits, dot, dash, underscore; at most 128.
	Call string
	// Before is asked once, right before the first effect; its error ends the call with nothing done. May be nil.
	Before func() error
	// Reached hears of "delete.middle", right after a removal in the middle of the list, and of "delete.done",
	// after the last one ("trash.…" for a trash). May be nil.
	Reached func(point string)
	// Progress hears of work done in bytes: each file is read twice. May be nil.
	Progress func(done, total int64)
}

// Delete removes the listed files one by one, in order, as the package comment tells; refusals are in the result.
// The error, if any, is an *[Error], and the result beside it says exactly what was done before it. When the context ends,
// the removal in hand is finished, or its file put back, and the code is stopped.
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

// explain adds to a failure whether a retry is safe and how far the call came.
func (r *run) explain(err error) error {
	failure := &Error{}
	if !asError(err, &failure) {
		failure = &Error{Code: ErrBroken, Found: "the removal was stopped", Err: err}
	}
	failure.Effect = r.touched
	if failure.Effect && failure.Hint == "" {
		failure.Hint = strconv.Itoa(r.resolved) + " of " + strconv.Itoa(len(r.items)) + " files were settled before; the rest is untouched"
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
