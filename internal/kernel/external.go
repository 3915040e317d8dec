package kernel

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// receive decodes a whole message of the tool protocol.
func receive[A any](run func(*Kernel, context.Context, Caller, utp.Message) (A, error)) operation {
	return operation{request: reflect.TypeFor[utp.Message](), answer: reflect.TypeFor[A](), run: func(k *Kernel, ctx context.Context, from Caller, request []byte) (any, error) {
		m, err := utp.DecodeMessage(request)
		if err != nil {
			return nil, api.NewFault(utp.CodeBadRequest, err.Error())
		}
		return run(k, ctx, from, m)
	}}
}

// externalCounts count what became of foreign commands.
type externalCounts struct{ adopted, answered, dropped atomic.Int64 }

// ExternalCounts are what became of the commands of foreign workers since the kernel was
// made.
type ExternalCounts struct {
	Adopted  int64 // became calls
	Answered int64 // were wrong, and got a failed result that says how
	Dropped  int64 // were wrong, and name no call that could be answered
}

// ExternalCounts returns the counts.
func (k *Kernel) ExternalCounts() ExternalCounts {
	return ExternalCounts{
		Adopted: k.external.adopted.Load(), Answered: k.external.answered.Load(), Dropped: k.external.dropped.Load(),
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
