package ledgertest

import "testing"

// TestChoose: a variable forces a ledger, a full run uses the file, and of many seeds about one in ten does.
func TestChoose(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		forced string
		full   bool
		want   string
	}{{inMemory, true, inMemory}, {inFile, false, inFile}, {"", true, inFile}} {
		if got := choose(tt.forced, tt.full, 1, "kernel.test"); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
	files := 0
	for seed := range uint64(1000) {
		if choose("", false, seed, "kernel.test") == inFile {
			files++
		}
	}
	if files < 60 || files > 140 {
		t.Errorf("%d of 1000 seeds choose the file", files)
	}
}

// TestChooseRefuses: a typing error does not run the other half of the tests.
func TestChooseRefuses(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a ledger of no kind was taken")
		}
	}()
	choose("sqlit", false, 1, "kernel.test")
}
