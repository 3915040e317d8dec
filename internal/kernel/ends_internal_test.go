package kernel

import (
	"slices"
	"testing"
)

// TestEndsWait: of the ends of turns within one, one is saved at a time, and those that have come meanwhile are the next, without
// those that nobody waits for any more. Those within another turn do not wait for them.
func TestEndsWait(t *testing.T) {
	t.Parallel()
	var q ends
	first, second, third, other := &end{turn: "1"}, &end{turn: "2"}, &end{turn: "3"}, &end{turn: "4"}
	if q.waits("above", first) || !q.waits("above", second) || !q.waits("above", third) || q.waits("elsewhere", other) {
		t.Fatal("it does not wait for the one before, or for one within another turn")
	}
	if !q.withdrawn(second) {
		t.Error("one that waits is not withdrawn")
	}
	if group := q.next("above"); !slices.Equal(group, []*end{third}) {
		t.Errorf("the next are %d, expected the third", len(group))
	}
	again, fourth := &end{turn: "3"}, &end{turn: "5"}
	for _, e := range []*end{{turn: "3"}, again, fourth} {
		q.waits("above", e)
	}
	if group := q.next("above"); len(group) != 2 || group[1] != fourth {
		t.Errorf("the next are %d, expected one of each turn", len(group))
	}
	if group := q.next("above"); !slices.Equal(group, []*end{again}) {
		t.Errorf("the next are %d, expected the second of a turn", len(group))
	}
	if q.withdrawn(third) {
		t.Error("one that is being saved is withdrawn")
	}
	if fifth := (&end{}); !q.waits("above", fifth) || !q.withdrawn(fifth) {
		t.Error("one that comes while others are saved does not wait")
	}
	if group := q.next("above"); group != nil {
		t.Errorf("%d are next, expected none", len(group))
	}
	if q.waits("above", &end{}) {
		t.Error("it waits for nobody")
	}
	if q.next("elsewhere"); len(q.waiting) != 1 {
		t.Errorf("%d turns are remembered, expected the one whose end is being saved", len(q.waiting))
	}
}
