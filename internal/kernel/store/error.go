package store

import (
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// AsDamage maps errors about missing or invalid content to [ErrDamaged], unlike errors of a failing store.
func AsDamage(err error) error {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrHash) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// ProtocolError maps every error that leaves the kernel to a code. Only the store can say whether a retry
// after one of its own errors is safe: a failed commit may have been written.
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
		return &api.Fault{Code: utp.CodeNotFound, Message: "nothing of that id is there"}
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
	case errors.As(err, &stored): // the database's own message is for the log
		return &api.Fault{Code: utp.CodeStorageError, Message: "the ledger could not be read or written; look at what was recorded before you try again"}
	}
	return &api.Fault{Code: utp.CodeInternalError, Message: err.Error()}
}

// Unexpected adds to an unexpected error what was being done.
func Unexpected(what string, err error) error { return fmt.Errorf("kernel: %s: %w", what, err) }
