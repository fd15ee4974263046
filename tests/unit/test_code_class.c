/*
 * report/stacks/code_class and runtime_functions: classes of images and functions, on paths of real
 * systems.
 */
#include "report/stacks/code_class.h"
#include "report/stacks/runtime_functions.h"
#include "tests/unit/unit.h"

#define DEBIAN "/usr/lib/x86_64-linux-gnu/"

static void check(const char *exe, const char *path, enum mt_code_class want)
{
	if (mt_code_class_of(path, exe) == want)
		return;
	printf("# %s in a process of %s\n", path, exe ? exe : "?");
	MT_CHECK_EQ(mt_code_class_of(path, exe), want);
}

#define PROGRAM(exe, path) check(exe, path, MT_CODE_PROGRAM)
#define LIBRARY(exe, path) check(exe, path, MT_CODE_LIBRARY)
#define RUNTIME(exe, path) check(exe, path, MT_CODE_RUNTIME)

MT_TEST(postgres_and_its_extensions)
{
	const char *debian = "/usr/lib/postgresql/15/bin/postgres", *fedora = "/usr/bin/postgres";

	PROGRAM(debian, debian);
	PROGRAM(debian, "/usr/lib/postgresql/15/lib/pg_stat_statements.so");
	PROGRAM(debian, "/usr/lib/postgresql/15/lib/bitcode/postgres.so");
	LIBRARY(debian, DEBIAN "libssl.so.3");
	LIBRARY(debian, DEBIAN "libicuuc.so.72.1");
	RUNTIME(debian, DEBIAN "libc.so.6");
	PROGRAM(fedora, fedora);
	PROGRAM(fedora, "/usr/lib64/pgsql/plpgsql.so");
	LIBRARY(fedora, "/usr/lib64/libldap.so.2");
}

MT_TEST(mysql_and_mariadb)
{
	PROGRAM("/usr/sbin/mysqld", "/usr/sbin/mysqld");
	PROGRAM("/usr/sbin/mysqld", "/usr/lib/mysql/plugin/auth_socket.so");
	LIBRARY("/usr/sbin/mysqld", DEBIAN "libprotobuf-lite.so.32");
	PROGRAM("/usr/sbin/mariadbd", "/usr/sbin/mariadbd");
	PROGRAM("/usr/sbin/mariadbd", "/usr/lib/mysql/plugin/ha_rocksdb.so");
	LIBRARY("/usr/sbin/mariadbd", DEBIAN "libsnappy.so.1.1.9");
}

MT_TEST(java)
{
	const char *java = "/usr/lib/jvm/java-17-openjdk-amd64/bin/java";

	PROGRAM(java, java);
	PROGRAM(java, "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so");
	PROGRAM(java, "/usr/lib/jvm/java-17-openjdk-amd64/lib/libjli.so");
	PROGRAM("/usr/lib/jvm/java-8-openjdk-amd64/jre/bin/java",
		"/usr/lib/jvm/java-8-openjdk-amd64/jre/lib/amd64/server/libjvm.so");
	LIBRARY(java, DEBIAN "libz.so.1.2.13");
	RUNTIME(java, DEBIAN "libstdc++.so.6.0.30");
	RUNTIME(java, DEBIAN "libjemalloc.so.2");
	PROGRAM(java, "//anon");
	PROGRAM(java, "/tmp/perf-812.map");
}

MT_TEST(browsers)
{
	PROGRAM("/usr/lib/chromium/chromium", "/usr/lib/chromium/chromium");
	PROGRAM("/usr/lib/chromium/chromium", "/usr/lib/chromium/libGLESv2.so");
	LIBRARY("/usr/lib/chromium/chromium", DEBIAN "libgtk-3.so.0.2406.32");
	PROGRAM("/opt/google/chrome/chrome", "/opt/google/chrome/chrome");
	PROGRAM("/usr/lib/firefox-esr/firefox-esr", "/usr/lib/firefox-esr/libxul.so");
	PROGRAM("/usr/lib/firefox-esr/firefox-esr", "/usr/lib/firefox-esr/libnspr4.so");
	LIBRARY("/usr/lib/firefox-esr/firefox-esr", DEBIAN "libglib-2.0.so.0.7400.6");
	PROGRAM("/snap/firefox/5187/usr/lib/firefox/firefox",
		"/snap/firefox/5187/usr/lib/firefox/libxul.so");
}

MT_TEST(node)
{
	PROGRAM("/usr/bin/node", "/usr/bin/node");
	PROGRAM("/usr/bin/node", DEBIAN "libnode.so.108");
	PROGRAM("/usr/bin/node", "/srv/shop/node_modules/sharp/build/Release/sharp.node");
	PROGRAM("/usr/bin/node", "/usr/share/nodejs/undici/lib.node");
	LIBRARY("/usr/bin/node", DEBIAN "libuv.so.1.0.0");
}

MT_TEST(python)
{
	const char *system = "/usr/bin/python3.11",
		   *own = "/home/anna/.pyenv/versions/3.12.1/bin/python3.12";

	PROGRAM(system, system);
	PROGRAM(system, "/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so");
	PROGRAM(system, "/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.so");
	PROGRAM(system, "/home/anna/venv/lib/python3.11/site-packages/pandas/_libs/lib.so");
	PROGRAM(system, "/usr/lib64/libpython3.11.so.1.0");
	LIBRARY(system, DEBIAN "libexpat.so.1.8.10");
	PROGRAM(own, "/home/anna/.pyenv/versions/3.12.1/lib/libpython3.12.so.1.0");
	RUNTIME(own, "/lib64/ld-linux-x86-64.so.2");
}

MT_TEST(a_server_that_was_copied)
{
	const char *exe = "/opt/x/lib/server";

	PROGRAM(exe, exe);
	PROGRAM(exe, "/opt/x/lib/libstore.so");
	PROGRAM(exe, "/opt/x/plugins/audit.so");
	RUNTIME(exe, "/opt/x/lib/libc.so.6");
	LIBRARY(exe, "/opt/y/lib/libother.so");
	PROGRAM("/root/server", "/root/libstore.so");
	LIBRARY("/root/server", "/root/other/libstore.so");
	PROGRAM("/home/anna/server", "/home/anna/server");
	LIBRARY("/home/anna/server", "/home/anna/lib/libstore.so");
	PROGRAM("/usr/lib/server", "/usr/lib/server");
	LIBRARY("/usr/lib/server", "/usr/lib/libstore.so");
	PROGRAM("/srv/server (deleted)", "/srv/server");
	PROGRAM("/srv/server", "/srv/server (deleted)");
}

MT_TEST(programs_with_all_inside)
{
	PROGRAM("/usr/bin/redis-server", "/usr/bin/redis-server");
	PROGRAM("/usr/bin/redis-server", "/usr/lib/redis/modules/redisearch.so");
	LIBRARY("/usr/bin/redis-server", DEBIAN "liblua5.1.so.0.0.0");
	PROGRAM("/usr/local/bin/prometheus", "/usr/local/bin/prometheus");
	PROGRAM("/bin/busybox", "/bin/busybox");
	PROGRAM("/usr/sbin/nginx", "/usr/lib/nginx/modules/ngx_stream_module.so");
	LIBRARY("/usr/bin/cat", DEBIAN "libcatgets.so.1");
}

MT_TEST(the_runtime_is_known_by_its_name)
{
	RUNTIME(NULL, "/usr/lib/libc-2.31.so");
	RUNTIME(NULL, "/lib/ld-2.17.so");
	RUNTIME(NULL, "/lib/ld-musl-x86_64.so.1");
	RUNTIME(NULL, "[vdso]");
	RUNTIME(NULL, "/opt/lib/libtcmalloc_minimal.so.4");
	RUNTIME(NULL, "/usr/local/lib/libmimalloc.so.2.1");
	LIBRARY(NULL, "/usr/lib/libc-client.so.2007e");
	LIBRARY(NULL, "/usr/lib/libcurl.so.4");
	LIBRARY(NULL, "/usr/lib/libmagic.so.1");
}

MT_TEST(without_the_program_a_library_is_known_by_its_name)
{
	PROGRAM(NULL, "/usr/bin/cat");
	PROGRAM("", "/usr/lib/jvm/java-17/bin/java");
	LIBRARY(NULL, "/usr/lib/jvm/java-17/lib/server/libjvm.so");
	PROGRAM("/lib64/ld-linux-x86-64.so.2", "/srv/server");
	check(NULL, "[heap]", MT_CODE_NONE);
	check(NULL, "[unknown]", MT_CODE_NONE);
	check("/usr/bin/cat", "[stack]", MT_CODE_NONE);
}

MT_TEST(functions_of_the_runtime)
{
	static const char *const runtime[] = {
		"malloc",
		"? calloc",
		"je_arena_malloc_hard",
		"zmalloc_usable",
		"zcalloc",
		"operator new(unsigned long)",
		"runtime.mallocgc",
		"mi_malloc_aligned",
		"std::vector<int, std::allocator<int> >::push_back(int const&)",
		"void std::vector<a b>::_M_realloc_insert<int>(int)",
		"_Znwm",
		"MemoryContextAlloc",
		"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
		"_PyObject_Malloc",
		"ObjArrayAllocator::initialize",
		"void v8::internal::Scavenger::ScavengeObject<v8::internal::Slot>(int)",
		"<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem"};
	static const char *const own[] = {"main",
					  "dictExpand",
					  "leak_by_malloc",
					  "mallocs",
					  "std",
					  "main.leak",
					  "SessionCache::remember(std::string const&)",
					  "void own::f<std::string>(int)",
					  "ExecInitNode",
					  "os::init",
					  "Builtins_ArrayPush",
					  "DefNewGeneration::collect",
					  "v8::internal::Heap::CollectGarbage",
					  "operator_new",
					  "<app::Cache as core::clone::Clone>::clone"};

	for (size_t i = 0; i < sizeof(runtime) / sizeof(*runtime); i++) {
		if (!mt_is_runtime_function(runtime[i]))
			MT_CHECK_STR(runtime[i], "a function of the runtime");
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		if (mt_is_runtime_function(own[i]))
			MT_CHECK_STR(own[i], "a function of the program");
	}
}

MT_TEST(collectors_are_known_by_their_threads)
{
	MT_CHECK(mt_is_collector("GangWorker::run"));
	MT_CHECK(mt_is_collector("? WorkerThread::run()"));
	MT_CHECK(mt_is_collector("v8::internal::ScavengerCollector::CollectGarbage"));
	MT_CHECK(!mt_is_collector("JavaThread::run"));
	MT_CHECK(!mt_is_collector("v8::internal::Heap::AllocateRaw"));
}

MT_TEST(arenas_of_allocators)
{
	MT_CHECK(mt_is_allocator("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"));
	MT_CHECK(!mt_is_allocator("/usr/lib/x86_64-linux-gnu/libc.so.6"));
	MT_CHECK(mt_is_arena_mapper("_PyObject_ArenaMmap"));
	MT_CHECK(mt_is_arena_mapper("extent_alloc_mmap"));
	MT_CHECK(!mt_is_arena_mapper("sysmalloc_mmap"));
}

MT_TEST(page_allocators_of_garbage_collectors)
{
	MT_CHECK(mt_is_page_allocator("v8::base::OS::SetPermissions"));
	MT_CHECK(mt_is_page_allocator("? VirtualSpace::expand_by"));
	MT_CHECK(!mt_is_page_allocator("v8::internal::Heap::CollectGarbage"));
	MT_CHECK(!mt_is_page_allocator("mmap"));
}

MT_TEST(sources_of_the_runtime)
{
	MT_CHECK(mt_is_runtime_source("/usr/include/c++/12/bits/stl_vector.h"));
	MT_CHECK(mt_is_runtime_source("/opt/gcc-13/include/c++/13/bits/stl_map.h"));
	MT_CHECK(mt_is_runtime_source("/rustc/90b35a6/library/alloc/src/vec/mod.rs"));
	MT_CHECK(mt_is_runtime_source("/usr/local/go/src/runtime/malloc.go"));
	MT_CHECK(!mt_is_runtime_source("/opt/x/src/server.c"));
	MT_CHECK(!mt_is_runtime_source("/usr/src/postgresql-15/aset.c"));
	MT_CHECK(!mt_is_runtime_source("server.c"));
}

MT_TEST(frames_of_made_code_are_known)
{
	MT_CHECK(mt_is_made_code("/memfd:doublemapper (deleted)"));
	MT_CHECK(mt_is_made_code("/home/anna/.debug/jit/jit-12.dump"));
	MT_CHECK(!mt_is_made_code("[heap]"));
	MT_CHECK(mt_is_made_code_name("[anon]"));
	MT_CHECK(mt_is_made_code_name("? [perf-12.map]"));
	MT_CHECK(!mt_is_made_code_name("[libjvm.so]"));
}

MT_TEST_MAIN
