package web

import (
	"fmt"
	"testing"
	"time"
)

// TestRecordsAreBounded: no more sessions, and of no more bytes, are kept than that; what was used last stays, and nothing stays for
// longer than its age.
func TestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	r := records[told]{most: mostRecords, mostBytes: mostRecordBytes}
	use := func(name string, size int) *record[told] {
		now = now.Add(time.Second)
		key := recordKey{session: name, approves: true}
		one := r.find(key, now)
		one.bytes = max(one.bytes, size)
		r.count(key, one)
		return one
	}
	first := use("first", 1)
	for n := range mostRecords - 1 {
		use(fmt.Sprint(n), 1)
	}
	if use("first", 1) != first || len(r.kept) != mostRecords || r.bytes != mostRecords {
		t.Errorf("%d of %d bytes are kept", len(r.kept), r.bytes)
	}
	use("more", 1)
	if _, kept := r.kept[recordKey{session: "0", approves: true}]; kept || len(r.kept) != mostRecords || r.kept[recordKey{session: "first", approves: true}] != first {
		t.Errorf("the oldest is kept %v, of %d", kept, len(r.kept))
	}
	use("half", mostRecordBytes/2)
	use("large", mostRecordBytes/2)
	if r.bytes > mostRecordBytes || r.kept[recordKey{session: "large", approves: true}] == nil {
		t.Errorf("%d bytes are kept, of %d sessions", r.bytes, len(r.kept))
	}
	use("small", 1)
	before := r.bytes
	use("too large", mostRecordBytes+1)
	if r.bytes != before || r.kept[recordKey{session: "too large", approves: true}] != nil {
		t.Errorf("%d bytes are kept, of %d sessions", r.bytes, len(r.kept))
	}
	now = now.Add(recordAge)
	old := use("old", 7)
	now = now.Add(recordAge)
	if use("old", 1) == old || r.bytes != 1 {
		t.Errorf("an old one is kept: %d bytes", r.bytes)
	}
	key := recordKey{session: "old", approves: true}
	r.drop(key, old) // another one stands there
	r.drop(key, r.kept[key])
	if r.bytes != 0 || len(r.kept) != 0 {
		t.Errorf("%d bytes are kept after that", r.bytes)
	}
}
