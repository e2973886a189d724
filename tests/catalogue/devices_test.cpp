#include "tokenroof/catalogue/devices.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogue/embedded_files.hpp"
#include "tokenroof/readers.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof::catalogue {
namespace {

using namespace tokenroof::literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of(const Device& device) { return "devices/" + std::string(device.id.view()) + ".json"; }

TEST(Devices, AreSortedAndAsManyAsFiles) {
  EXPECT_EQ(devices().size(), embedded_files("devices/").size());
  EXPECT_TRUE(std::ranges::is_sorted(devices(), {}, [](const Device& device) { return device.id.view(); }));
}

// The generator (CMake) and the reader (C++) are two programs over the same files.
TEST(Devices, TableAndReaderAgree) {
  for (const Device& device : devices()) {
    const auto text = embedded_file(file_of(device));
    ASSERT_TRUE(text) << device.id.view();
    EXPECT_TRUE(parse_device(*text, file_of(device)) == device) << device.id.view();
  }
}

TEST(Devices, EverySpellingFindsItsDevice) {
  for (const Device& device : devices()) {
    EXPECT_EQ(find_device(device.id), &device);
    EXPECT_EQ(find_device(device.name), &device);
  }
  for (const DeviceAlias& alias : built_in_device_aliases) {
    EXPECT_EQ(find_device(alias.spelling), &devices()[alias.index]) << alias.spelling;
  }
}

TEST(Devices, AreFoundAsPeopleWriteThem) {
  EXPECT_EQ(device("NVIDIA GeForce RTX 4090").id, "rtx_4090");
  EXPECT_EQ(device("RTX 4090 24GB").id, "rtx_4090");
  EXPECT_EQ(device("H100-80GB-SXM").id, "h100_sxm");
  EXPECT_EQ(device("H100").id, "h100_sxm");
  EXPECT_EQ(device("Snapdragon 8 Elite").id, "snapdragon_8_elite");
  EXPECT_EQ(device("Galaxy S25").id, "snapdragon_8_elite");
  EXPECT_EQ(device("M3 Max 40-core").id, "apple_m3_max_40c");
}

TEST(Devices, SizeIsChosenByArgumentOrSpelling) {
  EXPECT_EQ(memory(device("apple_m3_max_40c")), nullptr);
  for (const Device& chosen :
       {device("apple_m3_max_40c", 64_GiB), device("apple_m3_max_40c", 64_GB), device("apple_m3_max_40c@64GiB"),
        device("apple_m3_max_40c@64"), device("Apple M3 Max 40-Core GPU 64GB"), device("M3 Max 64GB")}) {
    ASSERT_NE(memory(chosen), nullptr);
    EXPECT_EQ(memory(chosen)->capacity, 64_GiB);
  }
  EXPECT_EQ(memory(device("arc_a770_16gb"))->capacity, 16_GiB) << "the id names one of two sizes";
  EXPECT_EQ(memory(device("arc_a770_16gb@8GiB"))->capacity, 8_GiB);
}

TEST(Devices, BandwidthFollowsTheSize) {
  EXPECT_FALSE(memory_bandwidth(device("apple_m6_12c"))) << "the sizes differ in bandwidth";
  EXPECT_EQ(memory_bandwidth(device("apple_m6_12c@16GiB")), 153_GBps);
}

TEST(Devices, SizeThatIsNotSoldIsAnErrorThatListsThose) {
  try {
    (void)device("apple_m3_max_40c@96GiB");
    FAIL();
  } catch (const InvalidSpec& error) {
    EXPECT_EQ(error.value(), "96 GiB");
    EXPECT_THAT(error.reason(), HasSubstr("48 GiB, 64 GiB, 128 GiB"));
  }
  EXPECT_THROW((void)device("rtx_4090", 80_GiB), InvalidSpec);
}

TEST(Devices, BuyersOfCpusChooseTheMemory) {
  const Device chosen = device("epyc_9654", 768_GiB);
  EXPECT_EQ(memory(chosen)->capacity, 768_GiB);
  EXPECT_EQ(memory_bandwidth(chosen), device("epyc_9654").bandwidth);
  EXPECT_THROW((void)device("epyc_9654", 0_GiB), InvalidSpec);
}

std::vector<std::string> nearest_to(std::string_view id) {
  try {
    (void)device(id);
  } catch (const UnknownDevice& error) {
    EXPECT_EQ(error.id(), id);
    return error.nearest();
  }
  return {"found"};
}

TEST(Devices, UnknownOnesGetTheNearestNames) {
  EXPECT_EQ(nearest_to("h100_sxmm").front(), "h100_sxm");
  EXPECT_EQ(nearest_to("h100_sxmm@80GiB").front(), "h100_sxm");
  EXPECT_THAT(nearest_to("Apple M2 Ultra 192GB"), ElementsAre("apple_m2_ultra_60c", "apple_m2_ultra_76c"));
  EXPECT_THAT(nearest_to("nothing like this"), ElementsAre());
  EXPECT_THAT(nearest_to(""), ElementsAre());
  EXPECT_THAT(nearest_to(std::string(100'000, 'h')), ElementsAre());
  EXPECT_EQ(nearest_to("rtx_4090@many").front(), "rtx_4090");
  EXPECT_EQ(find_device("h100_sxmm"), nullptr);
}

// Figures that no device has, or that contradict each other, are mistakes of the catalogue.
TEST(Devices, ArePlausible) {
  for (const Device& device : devices()) {
    SCOPED_TRACE(device.id.view());
    EXPECT_FALSE(device.vendor.empty());
    EXPECT_FALSE(device.family.empty());
    ASSERT_GE(device.compute_unit_count, 1U);
    if (device.bandwidth) {
      EXPECT_GE(*device.bandwidth, 40_GBps);
      EXPECT_LE(*device.bandwidth, 30_TBps);
    }
    for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
      EXPECT_GE(device.memory_variants[i].capacity, 6_GiB);
      EXPECT_LE(device.memory_variants[i].capacity, 512_GiB);
      EXPECT_LE(device.memory_variants[i].usable.value_or(1_GiB), device.memory_variants[i].capacity);
      EXPECT_GE(device.memory_variants[i].usable.value_or(device.memory_variants[i].capacity),
                device.memory_variants[i].capacity * 0.5);
    }
    for (const ComputeUnit& unit : device.compute_units) {
      const Rate* fp16 = find_rate(unit, Arithmetic::fp16);
      const Rate* bf16 = find_rate(unit, Arithmetic::bf16);
      const Rate* fp8 = find_rate(unit, Arithmetic::fp8);
      if (fp16 && bf16 && device.id != "gaudi3") {
        EXPECT_EQ(fp16->value, bf16->value);
      }
      if (bf16 && fp8) {
        EXPECT_GE(fp8->value, bf16->value);
        EXPECT_LE(fp8->value, bf16->value * 8.0);
      }
      if (unit.bandwidth && device.bandwidth) {
        EXPECT_LE(*unit.bandwidth, *device.bandwidth);
      }
    }
  }
}

// Sparse peaks pass for dense ones in many tables; these are the dense ones.
TEST(Devices, RatesAreDense) {
  const auto rate = [](std::string_view id, Arithmetic arithmetic) {
    return find_rate(find_device(id)->compute_units[0], arithmetic)->value;
  };
  EXPECT_EQ(rate("h100_sxm", Arithmetic::bf16), 989.4_TFLOPS);
  EXPECT_EQ(rate("b200_sxm", Arithmetic::bf16), 2250_TFLOPS);
  EXPECT_EQ(rate("gb200", Arithmetic::bf16), 2500_TFLOPS);
  EXPECT_EQ(rate("rtx_4090", Arithmetic::fp8), 330.4_TFLOPS);
  EXPECT_EQ(rate("mi300x", Arithmetic::fp16), 1307.4_TFLOPS);
  EXPECT_EQ(rate("apple_m3_max_40c", Arithmetic::fp16), rate("apple_m3_max_40c", Arithmetic::fp32));
}

TEST(Devices, RatesInferredFromMeasurementsSaySo) {
  const Device& phone = *find_device("snapdragon_8_elite");
  const Rate* rate = find_rate(*compute_unit(phone, ComputeUnitKind::npu), Arithmetic::fp16);
  ASSERT_NE(rate, nullptr);
  EXPECT_EQ(rate->basis, Basis::fitted);
  EXPECT_LT(rate->low, rate->value);
  EXPECT_GT(rate->high, rate->value);
  EXPECT_EQ(find_rate(*compute_unit(phone, ComputeUnitKind::gpu), Arithmetic::fp16), nullptr);
}

} // namespace
} // namespace tokenroof::catalogue
