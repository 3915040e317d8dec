package bus_test

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/internal/bus"
)

func Example() {
	ctx := context.Background()
	files := bus.Principal{Kind: bus.Tool, Name: "files"}
	server, err := bus.Start(ctx, bus.Options{Project: "home", Principals: []bus.Principal{files}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	kernel, err := server.Kernel(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = kernel.Serve(ctx, func(_ context.Context, from bus.Principal, op string, request []byte) []byte {
		return fmt.Appendf(nil, "%s may %s %s", from, op, request)
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	service, err := server.Connect(ctx, files)
	if err != nil {
		fmt.Println(err)
		return
	}
	rung := make(chan string)
	if _, err = service.Commands(ctx, func(_ context.Context, m bus.Message) { rung <- string(m.Payload) }); err != nil {
		fmt.Println(err)
		return
	}
	if err = kernel.Publish(ctx, "cg.v1r4.home.public.cmd.tool.files.delete", nil, []byte("tc_1")); err != nil {
		fmt.Println(err)
		return
	}
	answer, err := service.Request(ctx, "start", []byte(<-rung))
	fmt.Println(string(answer), err)
	// Output: tool/files may start tc_1 <nil>
}
