package capture

import "fmt"

// Message is one JSON value of a file.
type Message struct {
	// Raw is the value as it stands in the file, without white space around it. It is
	// valid until the next call of [Reader.Next]. Where Err is set it is cut short. A byte
	// order mark at the beginning of the file stands before the first message.
	Raw []byte
	// Line and Column are where it begins, from 1; the column counts bytes.
	Line, Column int
	// Offset is the place of its first byte in the file, from 0.
	Offset int64
	// Err says that the value does not end as a value must; nil for a whole one.
	Err *BrokenError
}

// BrokenError says where a value is broken, and why.
type BrokenError struct {
	Line, Column int
	Offset       int64
	Reason       string // what was found and what was expected
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("line %d, byte %d: %s", e.Line, e.Offset, e.Reason)
}
