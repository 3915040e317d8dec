package rpc_test

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// refusing answers every request as the kernel does when a call has another owner.
type refusing struct{}

func (refusing) Request(context.Context, string, []byte) ([]byte, error) {
	return api.EncodeAnswer(nil, &api.Fault{Code: utp.CodeBusy, Message: "another owner has started the call"}), nil
}

func Example() {
	var granted api.StartAnswer
	err := rpc.AskUntil(context.Background(), refusing{}, api.OpStart, api.StartRequest{Call: "tc_1"}, &granted)
	fmt.Println(rpc.Code(err, utp.CodeBusy), err)
	// Output: true busy: another owner has started the call
}
