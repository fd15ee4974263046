/* Containers are recognized by the cgroup paths of their engines. */
#include "report/sums/container.h"
#include "tests/unit/unit.h"

#define ID "3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708"

MT_TEST(engines_are_known_by_their_paths)
{
	MT_CHECK_STR(mt_container_of("/docker/" ID).text, "docker 3f2a1b4c5d6e");
	MT_CHECK_STR(mt_container_of("0::/system.slice/docker-" ID ".scope").text,
		     "docker 3f2a1b4c5d6e");
	MT_CHECK_STR(mt_container_of("/machine.slice/libpod-" ID ".scope").text,
		     "podman 3f2a1b4c5d6e");
	MT_CHECK_STR(mt_container_of("/kubepods.slice/kubepods-pod12_34.slice/cri-containerd-" ID
				     ".scope")
			     .text,
		     "containerd 3f2a1b4c5d6e");
	MT_CHECK_STR(mt_container_of("/kubepods/burstable/pod12345678-90ab/" ID).text,
		     "kubernetes 3f2a1b4c5d6e");
	MT_CHECK_STR(mt_container_of("/lxc.payload.web/system.slice").text, "lxc web");
	MT_CHECK_STR(mt_container_of("/lxc/web").text, "lxc web");
	MT_CHECK_STR(mt_container_of("/machine.slice/machine-web.scope").text, "machine web");
	MT_CHECK_STR(mt_container_of("0::/machine.slice/systemd-nspawn@web.service/payload").text,
		     "machine web");
}

MT_TEST(what_is_in_none_has_none)
{
	MT_CHECK_STR(mt_container_of("").text, "-");
	MT_CHECK_STR(mt_container_of("/").text, "-");
	MT_CHECK_STR(mt_container_of("0::/user.slice/user-1000.slice/session-2.scope").text, "-");
	MT_CHECK_STR(mt_container_of("/system.slice/deadbeef.service").text, "-");
}

MT_TEST(the_innermost_counts)
{
	MT_CHECK_STR(
		mt_container_of("/docker/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/docker/" ID)
			.text,
		"docker 3f2a1b4c5d6e");
}

MT_TEST_MAIN
