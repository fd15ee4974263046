/*
 * Names that are printed without libiberty: as libiberty prints them, or not at all.
 */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "symbols/demangle_plain.h"
#include "tests/unit/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static const char *const plain_names[] = {
	"_Z3foov",
	"_ZL3fooi",
	"_ZN12XOREncryptor12encryptChunkERKSsS1_",
	"_Z4growILi15ELi0EEvm",
	"_ZNSt6vectorIiSaIiEE9push_backERKi",
	"_ZNSt6vectorISt4pairINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES6_ESaIS7_EEixEm",
	"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC4ENS4_12__sv_wrapperERKS3_",
	"_ZNSsC1ERKSs",
	"_ZNSsD2Ev",
	"_ZNSolsEi",
	"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
	"_ZNSt12__shared_ptrINSt1a10_State_baseELN9__gnu_cxx12_Lock_policyE2EEaSEOS4_",
	"_ZNSt12__shared_ptrIKNSt8__detail4_NFAIcEELN9__gnu_cxx12_Lock_policyE2EEC2Ev",
	"_ZN5Eigen6MatrixIdLin1ELin1ELi0ELin1ELin1EEC2Ev",
	"_ZN1aIbLb0ELj3ELm4ELy5ELx6ELl7ELc65EE1bEv",
	"_ZN12_GLOBAL__N_14makeEv",
	"_ZSt4moveINSt7__cxx1112basic_stringIcSaIcEEEENSt16remove_referenceIT_E4typeEOS8_",
	"_ZNSt8functionIFviPKcEE5resetEv",
	"_ZNSt5tupleIJiSt6vectorIiSaIiEEEEC2Ev",
	"_ZNSt5tupleIJSt6vectorIiSaIiEEEEC2Ev",
	"_ZN1aISt6vectorIiSaIiEEJEE1bEv",
	"_ZN1aIJEJEE1bEv",
	"_ZN1aIJEiJEE1bEv",
	"_ZN1aIJEE1bEv",
	"_ZN4ipc3logB5cxx11EPVKcDn",
	"_ZNKR1A1bEv",
	"_ZN1AnwEm",
	"_ZN1AdaEPv",
	"_ZN1AltIiEEbT_",
	"_ZZ4mainE5table",
	"_ZZN1A1bEvE5table_0",
	"_ZZN1A1bEvE5table__10_",
	"_ZZNK1A1bERKS_ENKUlvE_clEv",
	"_ZZN5shop34fillILi3EEEiRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEENKUliE_clEi",
	"_ZSt3__aIPilN9__gnu_cxx5__iterIZN5shop05shelfILi3EE3addERKiEUlRKT_RKT0_E_EEEvS6_S8_T2_",
	"_ZZN1A1bEvENKUlRKT_E_clIiEEDaS2_",
	"_Z1fIKPViRKS_OiEvv",
	"_Z3fooIDnDiDsEvv",
};

static const char *const other_names[] = {
	"main",
	"_Z",
	"_ZTV1A",
	"_ZN1AcvbEv",
	"_Z1fIPFvvEEvv",
	"_Z1fIM1AiEvv",
	"_Z1fIA3_iEvv",
	"_Z1fIXadL_Z1gvEEEvv",
	"_ZN1A",
	"_Z99a",
	"_ZN1aIS9_E1bEv",
	"_Z1fIR1AIS1_EROS1_Evv",
	"_ZNSt5tupleIJDpT_EEC2Ev",
};

/* What libiberty says. */
static struct {
	char text[1 << 16];
	size_t size;
	bool long_one;
} said;

static void listen_to(const char *bytes, size_t size, void *unused)
{
	(void)unused;
	said.long_one |= size >= sizeof(said.text) - said.size;
	if (said.long_one)
		return;
	memcpy(said.text + said.size, bytes, size);
	said.size += size;
}

static const char *by_libiberty(const char *name)
{
	said.size = 0;
	said.long_one = false;
	if (!cplus_demangle_v3_callback(name, DMGL_NO_OPTS, listen_to, NULL) || said.long_one)
		return NULL;
	said.text[said.size] = '\0';
	return said.text;
}

/* Whether a name is printed, and not as libiberty does. */
static bool differs(const char *name)
{
	MT_CLEANUP_FREE char *plain = mt_demangle_plain(name);
	const char *other = plain ? by_libiberty(name) : NULL;

	if (!plain || (other && !strcmp(plain, other)))
		return false;
	printf("# %s: %s, libiberty says %s\n", name, plain, other ? other : "nothing");
	return true;
}

MT_TEST(names_are_printed_as_libiberty_prints_them)
{
	for (size_t i = 0; i < LENGTH(plain_names); i++) {
		MT_CLEANUP_FREE char *plain = mt_demangle_plain(plain_names[i]);

		MT_CHECK_STR(plain, by_libiberty(plain_names[i]));
	}
}

MT_TEST(what_is_of_another_kind_is_left_to_libiberty)
{
	for (size_t i = 0; i < LENGTH(other_names); i++) {
		MT_CLEANUP_FREE char *plain = mt_demangle_plain(other_names[i]);

		if (plain)
			printf("# %s: %s\n", other_names[i], plain);
		MT_CHECK(!plain);
	}
}

MT_TEST(packs_without_anything_leave_what_libiberty_leaves)
{
	MT_CLEANUP_FREE char *plain = mt_demangle_plain("_ZN1aISt6vectorIiSaIiEEJEE1bEv");

	MT_CHECK_STR(plain, "a<std::vector<int, std::allocator<int> >>::b");
}

/* Names that are deep, long or double what they print. */
MT_TEST(names_without_bounds_are_given_up)
{
	static char name[4096];
	char *at = name + sprintf(name, "_Z1fI");
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (int i = 0; i < 700; i++)
		*at++ = 'P';
	strcpy(at, "iEvv");
	MT_CHECK(!mt_demangle_plain(name));
	at = name + sprintf(name, "_Z1fI");
	for (int i = 0; i < 900; i++)
		*at++ = 'i';
	strcpy(at, "Evv");
	MT_CHECK(!mt_demangle_plain(name));
	at = name + sprintf(name, "_Z1fI1AIiE"); /* S0_ is A, S1_ is A<int> */
	for (int i = 0; i < 12; i++)
		at += sprintf(at, "S0_IS%c_S%c_E", digits[i + 1], digits[i + 1]);
	strcpy(at, "Evv");
	MT_CHECK(!mt_demangle_plain(name));
}

/* One byte or a few of another name put somewhere. */
static void damage(char *name, size_t capacity, const char *other)
{
	static const char bytes[] = "0123456789EISN_KPRZTJLFUlDCBvicbXtsaMAOV";
	size_t length = strlen(name), at = 2 + (size_t)rand() % (length - 2);
	size_t from = (size_t)rand() % strlen(other), size = strnlen(other + from, 20);

	switch (rand() % 3) {
	case 0:
		name[at] = bytes[(size_t)rand() % (sizeof(bytes) - 1)];
		break;
	case 1:
		memmove(name + at, name + at + 1, length - at);
		break;
	default:
		if (length + size >= capacity)
			return;
		memmove(name + at + size, name + at, length - at + 1);
		memcpy(name + at, other + from, size);
	}
}

MT_TEST(damaged_names_are_printed_as_libiberty_prints_them_or_not_at_all)
{
	srand(1);
	for (int i = 0; i < 20000; i++) {
		char name[600];
		int count = 1 + rand() % 3;

		strcpy(name, plain_names[(size_t)rand() % LENGTH(plain_names)]);
		while (count-- && strlen(name) > 4)
			damage(name, sizeof(name),
			       plain_names[(size_t)rand() % LENGTH(plain_names)]);
		MT_CHECK(!differs(name));
	}
}

MT_TEST_MAIN
