package store

import (
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// AsDamage tells what is missing, or not what it should be, from a store that fails.
func AsDamage(err error) error {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrHash) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// ProtocolError gives every error that leaves the kernel a code. Of the store's own
// errors only the store can say whether trying again is safe: a commit that failed may
// have been written.
func ProtocolError(err error) error {
	var refused *turn.Error
	var known *api.Fault
	var stored interface{ SafeToRetry() bool }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &refused):
		return &api.Fault{Code: refused.Code, Message: refused.Message, Retry: refused.Code.SafeToRetry()}
	case errors.Is(err, ErrNotFound):
		return &api.Fault{Code: utp.CodeNotFound, Message: "the ledger has no such row"}
	case errors.Is(err, ErrFull):
		return &api.Fault{Code: utp.CodeUpstreamUnavailable, Message: "no room left for the ledger; nothing was recorded", Retry: true}
	case errors.Is(err, ErrConflict):
		return &api.Fault{Code: utp.CodeConflict, Message: "the ledger has changed meanwhile", Retry: true}
	case errors.Is(err, ErrHash):
		return &api.Fault{Code: utp.CodeBadRequest, Message: err.Error(), Retry: true}
	case errors.Is(err, ErrDamaged):
		return &api.Fault{Code: utp.CodeStorageError, Message: "what the ledger holds of this cannot be read; a backup may have it whole"}
	case errors.As(err, &stored) && stored.SafeToRetry():
		return &api.Fault{Code: utp.CodeStorageError, Message: "the ledger could not be read or written; nothing was recorded", Retry: true}
	case errors.As(err, &stored): // what the database says is for the log
		return &api.Fault{Code: utp.CodeStorageError, Message: "the ledger could not be read or written; look at what was recorded before you try again"}
	}
	return &api.Fault{Code: utp.CodeInternalError, Message: err.Error()}
}

// Unexpected says of an error that should not have happened what it was about.
func Unexpected(what string, err error) error { return fmt.Errorf("kernel: %s: %w", what, err) }
