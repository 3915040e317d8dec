package kernel

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// TestUnknownEffect: an effect that the kernel does not carry out fails the step; it is not left out of it without a word.
func TestUnknownEffect(t *testing.T) {
	t.Parallel()
	if err := (&step{}).applyEffect(struct{ turn.Effect }{}); err == nil {
		t.Error("an effect of an unknown type is left out, expected an error")
	}
}
