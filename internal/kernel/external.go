package kernel

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// receive decodes a complete message of the tool protocol.
func receive[A any](run func(*Kernel, context.Context, Caller, utp.Message) (A, error)) operation {
	return operation{request: reflect.TypeFor[utp.Message](), answer: reflect.TypeFor[A](), run: func(k *Kernel, ctx context.Context, from Caller, request []byte) (any, error) {
		m, err := utp.DecodeMessage(request)
		if err != nil {
			return nil, api.NewFault(utp.CodeBadRequest, err.Error())
		}
		return run(k, ctx, from, m)
	}}
}

// externalCounts counts what became of third-party commands.
type externalCounts struct{ adopted, answered, dropped atomic.Int64 }

// ExternalCounts says what became of the commands of third-party workers since the kernel was made.
type ExternalCounts struct {
	Adopted  int64 // they became calls
	Answered int64 // they were invalid, and got a failed result that says why
	Dropped  int64 // they were invalid, and name no call that could be answered
}

// ExternalCounts returns the counts.
func (k *Kernel) ExternalCounts() ExternalCounts {
	return ExternalCounts{
		Adopted: k.external.adopted.Load(), Answered: k.external.answered.Load(), Dropped: k.external.dropped.Load(),
	}
}

// codeOf returns the code of an error of package utp, else bad_request.
func codeOf(err error) utp.Code {
	var coded interface{ Code() utp.Code }
	if errors.As(err, &coded) {
		return coded.Code()
	}
	return utp.CodeBadRequest
}
