package rpc_test

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// refusing answers every request as the kernel does when a call has another owner.
type refusing struct{}

func (refusing) Request(context.Context, string, []byte) ([]byte, error) {
	return utp.EncodeAnswer(nil, &utp.Fault{Code: utp.CodeBusy, Message: "another owner has started the call"}), nil
}

func Example() {
	var granted utp.StartAnswer
	err := rpc.AskUntil(context.Background(), refusing{}, utp.OpStart, utp.StartRequest{Call: "tc_1"}, &granted)
	fmt.Println(rpc.Code(err, utp.CodeBusy), err)
	// Output: true busy: another owner has started the call
}
