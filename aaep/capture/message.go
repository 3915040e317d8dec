package capture

import "fmt"

// Message is one JSON value of a file.
type Message struct {
	// Raw is the value as written in the file, without white space around it. It is valid until the next call of
	// [Reader.Next], and truncated if Err is set. A byte order mark at the start of the file precedes the first
	// message.
	Raw []byte
	// Line and Column are where it begins, from 1; the column counts bytes.
	Line, Column int
	// Offset is the offset of its first byte in the file, from 0.
	Offset int64
	// Err says that the value is incomplete or broken; nil for a valid one.
	Err *BrokenError
}

// BrokenError says where and why a value is broken.
type BrokenError struct {
	Line, Column int
	Offset       int64
	Reason       string // what was found and what was expected
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("line %d, byte %d: %s", e.Line, e.Offset, e.Reason)
}
