package kernel

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// foreignOperation is what a peer of another make may ask. It takes its turns like any
// agent, and asks for calls by commands, as it would anywhere.
func foreignOperation(op string) operation {
	switch op {
	case api.OpClaim:
		return serve((*Kernel).claim)
	case api.OpRenew:
		return serve((*Kernel).renew)
	case api.OpDeliver:
		return serve((*Kernel).deliver)
	case api.OpGet:
		return serve((*Kernel).get)
	case api.OpCard:
		return serve((*Kernel).saveForeignCard)
	case api.OpRead:
		return serve((*Kernel).readCard)
	case api.OpInbox:
		return serve((*Kernel).inbox)
	case api.OpRegister:
		return serve((*Kernel).registerForeign)
	case api.OpReport:
		return hear((*Kernel).report)
	case api.OpCommand:
		return hear((*Kernel).foreignCommand)
	}
	return nil
}

// hear decodes a whole message of the tool protocol.
func hear[A any](run func(*Kernel, context.Context, Caller, utp.Message) (A, error)) operation {
	return func(k *Kernel, ctx context.Context, from Caller, request []byte) (any, error) {
		m, err := utp.DecodeMessage(request)
		if err != nil {
			return nil, fault(utp.CodeBadRequest, err.Error())
		}
		return run(k, ctx, from, m)
	}
}

// foreignCounts count what became of foreign commands.
type foreignCounts struct{ adopted, answered, dropped atomic.Int64 }

// ForeignCounts are what became of the commands of foreign workers since the kernel was
// made.
type ForeignCounts struct {
	Adopted  int64 // became calls
	Answered int64 // were wrong, and got a failed result that says how
	Dropped  int64 // were wrong, and name no call that could be answered
}

// Foreign returns the counts.
func (k *Kernel) Foreign() ForeignCounts {
	return ForeignCounts{
		Adopted: k.foreign.adopted.Load(), Answered: k.foreign.answered.Load(), Dropped: k.foreign.dropped.Load(),
	}
}

// codeOf is the code of an error of package utp, else bad_request.
func codeOf(err error) utp.Code {
	var coded interface{ Code() utp.Code }
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return utp.CodeBadRequest
}
